import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Dynamo } from '../../lambdas/platform/aws/dynamo.ts';
import type { WorldRuntime } from './process-runtime.ts';

/** The calls of a request to {base_url} to the store. */
export interface RequestCost {
  readonly method: string;
  readonly path: string;
  calls: number;
  /** The number of items read. */
  read: number;
}

/** Creates the runtime of one process. It counts the DynamoDB calls of the request that `begin` started last. */
export function countCosts(runtime: WorldRuntime) {
  let current: RequestCost | undefined;
  const dynamo: Dynamo = async (command, options) => {
    const cost = current;
    if (cost) cost.calls += 1; // also if its condition does not hold
    const answer = await runtime.dynamo(command, options);
    if (cost) cost.read += command instanceof QueryCommand ? countOf(answer) : keysOf(command);
    return answer;
  };
  return {
    runtime: { ...runtime, dynamo },
    begin: (cost: RequestCost) => {
      current = cost;
    },
  };
}

function countOf(answer: object): number {
  return 'ScannedCount' in answer ? Number(answer.ScannedCount) : 0;
}

/** DynamoDB bills a read by key also if the item does not exist. */
function keysOf(command: object): number {
  if (command instanceof GetCommand) return 1;
  if (!(command instanceof BatchGetCommand)) return 0;
  return Object.values(command.input.RequestItems ?? {}).reduce((sum, { Keys = [] }) => sum + Keys.length, 0);
}
