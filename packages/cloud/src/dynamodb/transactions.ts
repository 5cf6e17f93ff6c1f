import type { TransactWriteItem, TransactWriteItemsCommandInput } from '@aws-sdk/client-dynamodb';
import { ServiceError } from '../service-error.ts';
import { checkBatch } from './batches.ts';
import { checkOptions, validationError } from './errors.ts';
import type { Write, Writes } from './writes.ts';

/** Creates `TransactWriteItems`. The emulator runs one call at a time, so transactions never conflict with other writes. */
export function makeTransactions(writes: Writes, now: () => number) {
  /** The completed transactions, by client request token. */
  const completed = new Map<string, { readonly text: string; readonly at: number }>();

  /**
   * Applies all writes or none.
   *
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
   */
  return function transact(request: TransactWriteItemsCommandInput): object {
    checkOptions(request, ['TransactItems', 'ClientRequestToken']);
    const { TransactItems: operations = [], ClientRequestToken: token } = request;
    const all = operations.map(readOperation);
    checkBatch(
      all.map(({ request, key }) => ({ name: request.TableName ?? '', key })),
      100,
    );
    const text = JSON.stringify(operations);
    if (token !== undefined && isRepeat(token, text)) return {};
    const prepared = all.map(tryPrepare);
    if (prepared.includes(undefined)) throw cancellation(prepared);
    for (const write of prepared) write?.apply();
    if (token !== undefined) completed.set(token, { text, at: now() });
    return {};
  };

  function readOperation({ Put, Update, Delete }: TransactWriteItem): Write {
    if (Put) return writes.put(Put);
    if (Update) return writes.update(Update);
    if (Delete) return writes.remove(Delete);
    throw validationError('An operation of a transaction must be Put, Update or Delete');
  }

  /** Returns the prepared write, or `undefined` if the condition of the write fails. */
  function tryPrepare(write: Write) {
    try {
      return writes.prepare(write);
    } catch (error) {
      if (error instanceof ServiceError && error.name === 'ConditionalCheckFailedException') return undefined;
      throw error; // DynamoDB would report an invalid key as a cancellation reason
    }
  }

  /** Returns whether this request has already been executed. @throws {ServiceError} if another request used the token */
  function isRepeat(token: string, text: string): boolean {
    const earlier = completed.get(token);
    if (!earlier || earlier.at + tokenLifetime <= now()) return false;
    if (earlier.text === text) return true;
    throw new ServiceError('IdempotentParameterMismatchException', 'Another request used this token');
  }
}

function cancellation(prepared: readonly (object | undefined)[]): ServiceError {
  const CancellationReasons = prepared.map(write => ({ Code: write ? 'None' : 'ConditionalCheckFailed' }));
  const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return Object.assign(new ServiceError('TransactionCanceledException', message), { CancellationReasons });
}

const tokenLifetime = 600_000; // 10 minutes
