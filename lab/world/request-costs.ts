import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Dynamo } from '../../lambdas/platform/aws/dynamo.ts';
import type { WorldRuntime } from './process-runtime.ts';

/** The DynamoDB calls that a request to {base_url} makes, and the number of items that they read. */
export interface RequestCost {
  readonly method: string;
  readonly path: string;
  calls: number;
  itemsRead: number;
}

/** Wraps the runtime of one process. Adds the process's DynamoDB calls to the cost that was last passed to `startRequest`. */
export function countCosts(runtime: WorldRuntime) {
  let current: RequestCost | undefined;
  const dynamo: Dynamo = async (command, options) => {
    const cost = current;
    if (cost) cost.calls += 1; // including calls with a failed condition
    const output = await runtime.dynamo(command, options);
    if (cost) cost.itemsRead += command instanceof QueryCommand ? countOf(output) : keysOf(command);
    return output;
  };
  return {
    runtime: { ...runtime, dynamo },
    startRequest: (cost: RequestCost) => {
      current = cost;
    },
  };
}

function countOf(output: object): number {
  return 'ScannedCount' in output ? Number(output.ScannedCount) : 0;
}

/** Returns the number of keys that a command reads. DynamoDB bills each key, even if its item does not exist. */
function keysOf(command: object): number {
  if (command instanceof GetCommand) return 1;
  if (!(command instanceof BatchGetCommand)) return 0;
  return Object.values(command.input.RequestItems ?? {}).reduce((sum, { Keys = [] }) => sum + Keys.length, 0);
}
