import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Dynamo } from '../../lambdas/platform/aws/dynamo.ts';
import { isNamed } from '../stage/operator.ts';

export type Operation = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/**
 * Executes all writes, or none. Returns false if a condition is not met, or if another transaction locks an item.
 * @param token - DynamoDB's idempotency token.
 */
export async function transact(dynamo: Dynamo, token: string, operations: readonly Operation[]): Promise<boolean> {
  try {
    await dynamo(new TransactWriteCommand({ TransactItems: [...operations], ClientRequestToken: token }));
    return true;
  } catch (error) {
    if (isNamed(error, 'TransactionCanceledException') && reasonsOf(error).every(reason => expected.has(reason)))
      return false;
    throw error;
  }
}

/** The cancellation reasons for which `transact` returns false. Other reasons, such as throttling, are errors. */
const expected: ReadonlySet<string | undefined> = new Set(['None', 'ConditionalCheckFailed', 'TransactionConflict']);

function reasonsOf(error: object): readonly (string | undefined)[] {
  const { CancellationReasons: reasons = [] }: { readonly CancellationReasons?: readonly { Code?: string }[] } = error;
  return reasons.map(({ Code }) => Code);
}
