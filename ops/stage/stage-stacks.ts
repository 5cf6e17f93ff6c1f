import type { Stack } from '@aws-sdk/client-cloudformation';
import { hasSmokeStack, type StageConfiguration, stageConfiguration } from '../../lib/config.ts';
import { ConfigurationError, type StageName } from '../../lib/stage-files.ts';
import { CliError } from './operator.ts';
import type { Connect } from './ops-runtime.ts';

/** The stacks that a stage may have. `Data` is deployed first, and the others after their assets are published. */
export const stackNames = ['Data', 'Auth', 'Webhooks', 'Delivery', 'Smoke'] as const;

/** The maximum number of attempts for a call to a stage. A rollback reads all functions at once, and AWS throttles it. */
export const attemptsAtStage = 5;

/** The name of a stack without the prefix of its stage. */
export type StackName = (typeof stackNames)[number];

export interface DeployedStack {
  readonly name: StackName;
  /** The name in CloudFormation. */
  readonly stackName: string;
  /** CloudFormation's description, or `undefined` if the stack does not exist. */
  readonly found: Stack | undefined;
}

/** The state of a stage in CloudFormation. */
export interface StageStacks {
  readonly configuration: StageConfiguration;
  readonly region: string;
  /** The account of the stacks, or of the credentials if there is no stack. */
  readonly account: string;
  /** The existing and missing stacks of the stage's file, and the stacks that are left over. */
  readonly stacks: readonly DeployedStack[];
}

export function stackNameOf(stage: StageName, name: StackName): string {
  return `Emissor-${stage}-${name}`;
}

/**
 * Reads the stacks of a stage in the account and Region from the stage's file, or from the SDK's defaults.
 * @param connectIn - creates the connection to a Region. `undefined` means the SDK's default Region.
 * @throws {CliError} if the file is incomplete, or the credentials belong to another account.
 */
export async function readStageStacks(
  stage: StageName,
  connectIn: (region: string | undefined) => Connect,
): Promise<StageStacks> {
  const configuration = configurationOf(stage);
  const { region, stacks } = await describeStacks(configuration, connectIn(configuration.region));
  const account = accountOf(stacks) ?? (await callersAccount(connectIn(region)));
  requireOwnAccount(configuration, account);
  return { configuration, region, account, stacks };
}

/** Returns the custom domains in a stage's file. */
export function domainsOf({ authDomain, baseDomain }: StageConfiguration) {
  return [authDomain, baseDomain].filter(domain => domain !== undefined);
}

/** Returns the names of the stacks in a stage's file. */
export function stackNamesOf(configuration: StageConfiguration): readonly StackName[] {
  return stackNames.filter(name => name !== 'Smoke' || hasSmokeStack(configuration));
}

/** Returns whether a stack exists but is no longer in the stage's file. Deployments do not change such a stack. */
export function isLeftOver({ name, found }: DeployedStack, configuration: StageConfiguration): boolean {
  return found !== undefined && !stackNamesOf(configuration).includes(name);
}

/** Rejects stacks or credentials of another account. @throws {CliError} if the stage's file has a different account. */
export function requireOwnAccount({ stage, account: expected }: StageConfiguration, account: string): void {
  if (expected === undefined || account === expected) return;
  throw new CliError(
    `stage ${stage} is in account ${expected} (stages/${stage}.ts), but these AWS credentials belong to account ${account}. Set AWS_PROFILE to a profile of account ${expected}.`,
  );
}

/** Describes the stacks in a stage's file, and the stacks that are left over, in any account. */
export async function describeStacks(
  configuration: StageConfiguration,
  connect: Connect,
): Promise<Pick<StageStacks, 'region' | 'stacks'>> {
  // The SDK is loaded on demand, because loading it takes longer than the rest of a command.
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const client = connect(CloudFormationClient);

  const describe = async (name: StackName): Promise<DeployedStack> => {
    const stackName = stackNameOf(configuration.stage, name);
    try {
      const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
      return { name, stackName, found: Stacks[0] };
    } catch (error) {
      if (!isMissing(error)) throw error;
      return { name, stackName, found: undefined };
    }
  };

  const expected = stackNamesOf(configuration);
  const stacks = await Promise.all(stackNames.map(describe));
  return {
    region: await client.config.region(),
    stacks: stacks.filter(({ name, found }) => found !== undefined || expected.includes(name)),
  };
}

/** Returns the outputs of stacks by name. */
export function outputsOfStacks(stacks: readonly DeployedStack[]): Readonly<Record<string, string>> {
  const outputs = stacks.flatMap(({ found }) => found?.Outputs ?? []);
  return Object.fromEntries(outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
}

/** Returns the account of stacks from their ids (`arn:aws:cloudformation:REGION:ACCOUNT:stack/…`). */
export function accountOf(stacks: readonly DeployedStack[]): string | undefined {
  return stacks.map(({ found }) => found?.StackId?.split(':')[4]).find(account => account !== undefined);
}

function configurationOf(stage: StageName): StageConfiguration {
  try {
    return stageConfiguration(stage);
  } catch (error) {
    if (error instanceof ConfigurationError) throw new CliError(error.message);
    throw error;
  }
}

/** Returns the account of the credentials, which are often wrong. It is read only if the stage has no stacks. */
async function callersAccount(connect: Connect): Promise<string> {
  const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts');
  return (await connect(STSClient).send(new GetCallerIdentityCommand({}))).Account ?? '';
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && error.name === 'ValidationError' && error.message.includes('does not exist');
}
