import type { AliasConfiguration } from '@aws-sdk/client-lambda';
import type { Connect } from '../stage/ops-runtime.ts';
import { type DeployedStack, isLeftOver, type StageStacks } from '../stage/stage-stacks.ts';
import { isDeployed } from './stack-states.ts';

/** A deployed function, with the version that its `live` alias points to. */
export interface LiveFunction {
  /** The name in the code and in messages, such as `Token`. */
  readonly name: string;
  /** The name in Lambda. */
  readonly functionName: string;
  readonly version: number;
  /** The other versions that receive traffic during a CodeDeploy traffic shift. */
  readonly sharing: readonly number[];
  /** The version in the template of the last deployment. CodeDeploy starts the next deployment from this version. */
  readonly deployedVersion: number | undefined;
  /** The revision of the alias. Each update changes the revision. */
  readonly revisionId: string | undefined;
}

/** The name of the alias that all callers use. */
export const liveAlias = 'live';

/** Returns the stacks that the stage's file defines. */
export function ownStacks({
  stacks,
  configuration,
}: Pick<StageStacks, 'stacks' | 'configuration'>): readonly DeployedStack[] {
  return stacks.filter(stack => !isLeftOver(stack, configuration));
}

/** Returns the functions of stacks, sorted by name, with the versions that their aliases point to. */
export async function readLiveFunctions(
  connect: Connect,
  stacks: readonly DeployedStack[],
): Promise<readonly LiveFunction[]> {
  const { GetAliasCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
  const lambda = connect(LambdaClient);
  const resources = await Promise.all(stacks.filter(isDeployed).map(stack => listVersionedFunctions(connect, stack)));
  const functions = resources.flat().sort((one, other) => (one.name < other.name ? -1 : 1));
  return Promise.all(
    functions.map(async found => {
      const alias = await lambda.send(new GetAliasCommand({ FunctionName: found.functionName, Name: liveAlias }));
      return { ...found, ...versionsOf(alias) };
    }),
  );
}

/** A function with an alias that was moved since the last deployment, or that splits the traffic. */
export type MovedAlias = Pick<LiveFunction, 'version' | 'deployedVersion' | 'sharing'> & { readonly function: string };

export function findMovedAliases(functions: readonly LiveFunction[]): readonly MovedAlias[] {
  return functions
    .filter(({ version, deployedVersion, sharing }) => version !== deployedVersion || sharing.length > 0)
    .map(({ name, version, deployedVersion, sharing }) => ({ function: name, version, deployedVersion, sharing }));
}

function versionsOf({ FunctionVersion, RoutingConfig, RevisionId }: AliasConfiguration) {
  return {
    version: Number(FunctionVersion),
    sharing: Object.keys(RoutingConfig?.AdditionalVersionWeights ?? {}).map(Number),
    revisionId: RevisionId,
  };
}

/** Lists the functions of a stack that have an alias, with the versions that CloudFormation published. */
async function listVersionedFunctions(connect: Connect, { stackName: StackName }: DeployedStack) {
  const { CloudFormationClient, paginateListStackResources } = await import('@aws-sdk/client-cloudformation');
  const client = connect(CloudFormationClient);
  const names = new Map<string, string>();
  const versions = new Map<string, number>();
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName })) {
    for (const {
      ResourceType,
      ResourceStatus,
      LogicalResourceId = '',
      PhysicalResourceId = '',
    } of StackResourceSummaries) {
      if (ResourceStatus?.startsWith('DELETE_')) continue; // CloudFormation could not delete an earlier version
      const [functionName = '', qualifier] = PhysicalResourceId.split(':').slice(-2); // of `…:function:NAME:QUALIFIER`
      const [, name] = /^(\w+)Live[0-9A-F]{8}$/.exec(LogicalResourceId) ?? [];
      if (ResourceType === 'AWS::Lambda::Alias' && name) names.set(functionName, name);
      if (ResourceType === 'AWS::Lambda::Version') versions.set(functionName, Number(qualifier));
    }
  }
  return [...names].map(([functionName, name]) => ({
    name,
    functionName,
    deployedVersion: versions.get(functionName),
  }));
}
