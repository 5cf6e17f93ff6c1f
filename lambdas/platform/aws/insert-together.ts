import { BatchExecuteStatementCommand } from '@aws-sdk/lib-dynamodb';
import type { Turn } from '../timer.ts';
import { type Item, isUnavailable, StatementError, type StoreParts, wasRepeated } from './dynamo.ts';

/**
 * Inserts an item that must not exist yet, together with others. Returns whether the item is stored.
 *
 * `putAlone` writes the item with a separate conditional put. It is called if no other item is waiting, or if the batch call did not confirm
 * the item. In the second case, it receives the outcome of the batch call.
 */
export type InsertTogether = (item: Item, putAlone: (earlier?: EarlierInsert) => Promise<boolean>) => Promise<boolean>;

/** The outcome of a batch call that did not confirm an item. */
export interface EarlierInsert {
  /** True if the item may be stored, because the call was repeated or failed as a whole. */
  readonly mayBeStored?: boolean;
  /** The transient error (`isUnavailable`) of the call or the statement. The item may or may not be stored. */
  readonly failure?: unknown;
}

/**
 * Creates a writer that batches items, such as the outcomes of first attempts. One call writes all items that arrive in one turn of the event
 * loop or while two calls are in flight. If an item exists, only its PartiQL INSERT fails. A transaction would fail as a whole.
 *
 * New items of `table` must differ in the attribute `id`.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.multiplestatements.batching.html
 */
export function makeInsertTogether({
  dynamo,
  table,
  turn,
}: Omit<StoreParts, 'now'> & { readonly turn: Turn }): InsertTogether {
  let waiting: WaitingInsert[] = [];
  let isScheduled = false;
  let callsInFlight = 0;

  return function insertTogether(item, putAlone) {
    return new Promise((resolve, reject) => {
      waiting.push({ item, settle: earlier => putAlone(earlier).then(resolve, reject), stored: () => resolve(true) });
      schedule();
    });
  };

  function schedule(): void {
    if (isScheduled || waiting.length === 0 || callsInFlight >= maxCalls) return;
    isScheduled = true;
    void turn().then(writeWaiting);
  }

  async function writeWaiting(): Promise<void> {
    isScheduled = false;
    callsInFlight++;
    const written = write(takeBatch());
    schedule();
    await written;
    callsInFlight--;
    schedule();
  }

  /** Removes the items for one call from the queue. DynamoDB rejects a call with two items that have the same key. */
  function takeBatch(): WaitingInsert[] {
    const byId = new Map<unknown, WaitingInsert>();
    for (const insert of waiting) {
      if (byId.size < maxStatements && !byId.has(insert.item.id)) byId.set(insert.item.id, insert);
    }
    const batch = [...byId.values()];
    waiting = waiting.filter(insert => !batch.includes(insert));
    return batch;
  }

  /** Writes items with one batch call. Never throws. */
  async function write(batch: readonly WaitingInsert[]): Promise<void> {
    if (batch.length === 1) return batch[0]?.settle();
    try {
      const Statements = batch.map(({ item }) => insertStatement(table, item));
      const output = await dynamo(new BatchExecuteStatementCommand({ Statements }));
      const mayBeStored = wasRepeated(output);
      batch.forEach(({ settle, stored }, at) => {
        const { Responses: { [at]: response } = [] } = output;
        const code = response ? response.Error?.Code : 'ResponseMissing'; // the call succeeds even if statements fail
        if (response && !response.Error) stored();
        else if (permanentErrors.has(String(code))) settle({ mayBeStored });
        else settle({ failure: new StatementError(String(code), table) });
      });
    } catch (error) {
      // If DynamoDB rejected the whole call, possibly because of one item, only an earlier try may have written the items.
      for (const { settle } of batch) settle(isUnavailable(error) ? { failure: error } : { mayBeStored: true });
    }
  }
}

interface WaitingInsert {
  readonly item: Item;
  /** Completes the insert with the item's own put. */
  readonly settle: (earlier?: EarlierInsert) => Promise<void>;
  readonly stored: () => void;
}

/** The maximum number of calls in flight. With two, a hanging call does not block the other items. */
const maxCalls = 2;

/** The maximum number of statements per `BatchExecuteStatement`. */
const maxStatements = 25;

/** The permanent errors for a statement. The separate put of the item determines the cause. */
const permanentErrors: ReadonlySet<string> = new Set([
  'AccessDenied',
  'ConditionalCheckFailed',
  'DuplicateItem',
  'ItemCollectionSizeLimitExceeded',
  'ResourceNotFound',
  'ValidationError',
]);

function insertStatement(table: string, item: Item): { Statement: string; Parameters: unknown[] } {
  const attributes = Object.entries(item).filter(([, value]) => value !== undefined);
  const names = attributes.map(([name]) => `'${name}':?`);
  return {
    Statement: `INSERT INTO "${table}" VALUE {${names.join(',')}}`,
    Parameters: attributes.map(([, value]) => value),
  };
}
