import type { AliasConfiguration } from '@aws-sdk/client-lambda';
import { type RollbackRecord, readRecord, rollbackState } from '../../lambdas/platform/deployment/rollback-record.ts';
import type { DeployedStack } from '../stage/stage-stacks.ts';
import type { Connect } from '../stage/world.ts';
import { isDeployed } from './stack-states.ts';

/** A deployed function, and where its alias `live` leads. */
export interface LiveFunction {
  /** Its name in the code and on every page: `Token`. */
  readonly name: string;
  /** Its name in Lambda. */
  readonly functionName: string;
  /** Its stack in CloudFormation. */
  readonly stackName: string;
  readonly version: number;
  /** The versions that the alias gives a part of the requests, while CodeDeploy shifts them. */
  readonly sharing: readonly number[];
  /** Of the alias: it changes with each change of it. */
  readonly revisionId: string | undefined;
  readonly record: RollbackRecord | undefined;
}

/** The name of the alias that everything calls. */
export const liveAlias = 'live';

/** Returns the functions of stacks, sorted by their names, and where their aliases lead. */
export async function readLiveFunctions(
  connect: Connect,
  stacks: readonly DeployedStack[],
): Promise<readonly LiveFunction[]> {
  const { GetAliasCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
  const lambda = connect(LambdaClient);
  const functions = await listFunctions(connect, stacks);
  return Promise.all(
    functions.map(async found => {
      const alias = await lambda.send(new GetAliasCommand({ FunctionName: found.functionName, Name: liveAlias }));
      return { ...found, ...leadsTo(alias) };
    }),
  );
}

/** Returns where an alias leads. */
export function leadsTo({ FunctionVersion, RoutingConfig, RevisionId, Description }: AliasConfiguration) {
  return {
    version: Number(FunctionVersion),
    sharing: Object.keys(RoutingConfig?.AdditionalVersionWeights ?? {}).map(Number),
    revisionId: RevisionId,
    record: readRecord(Description),
  };
}

/** Returns the functions of stacks. CloudFormation knows the alias of each under the function's name in the code. */
export async function listFunctions(connect: Connect, stacks: readonly DeployedStack[]) {
  const { CloudFormationClient, paginateListStackResources } = await import('@aws-sdk/client-cloudformation');
  const client = connect(CloudFormationClient);
  const listIn = async ({ stackName }: DeployedStack) => {
    const found: Pick<LiveFunction, 'name' | 'functionName' | 'stackName'>[] = [];
    for await (const { StackResourceSummaries = [] } of paginateListStackResources(
      { client },
      { StackName: stackName },
    )) {
      for (const { ResourceType, LogicalResourceId = '', PhysicalResourceId = '' } of StackResourceSummaries) {
        const name = functionOf(LogicalResourceId);
        const functionName = PhysicalResourceId.split(':').at(-2);
        if (ResourceType === 'AWS::Lambda::Alias' && name && functionName)
          found.push({ name, functionName, stackName });
      }
    }
    return found;
  };
  const found = await Promise.all(stacks.filter(isDeployed).map(listIn));
  return found.flat().sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the name in the code of the function that an alias of a template leads to; `undefined` where it is no alias of ours. */
function functionOf(aliasId: string): string | undefined {
  return /^(\w+)Live[0-9A-F]{8}$/.exec(aliasId)?.[1];
}

/** One function that is not at the version that its latest deployment led to, or not with all requests. */
export interface RolledBack {
  readonly function: string;
  readonly from: number;
  readonly to: number;
  readonly at: string | null;
  /**
   * `returned`: it leads to a version again that was taken back, since a later deployment failed and was undone. `shifting`: it gives a
   * part of the requests to another version (`from`).
   */
  readonly state: 'rolled back' | 'returned' | 'shifting';
}

/** Returns what is rolled back of some functions, was and returned, or is shifting. */
export function findRolledBack(
  functions: readonly Pick<LiveFunction, 'name' | 'version' | 'sharing' | 'record'>[],
): readonly RolledBack[] {
  return functions.flatMap(({ name, version, sharing, record }): RolledBack[] => {
    if (sharing.length > 0)
      return [{ function: name, from: Math.max(...sharing), to: version, at: null, state: 'shifting' }];
    const state = rollbackState(version, record);
    if (!record || !state) return [];
    const [newest = 0] = record.from;
    return [{ function: name, from: state === 'returned' ? version : newest, to: record.to, at: record.at, state }];
  });
}
