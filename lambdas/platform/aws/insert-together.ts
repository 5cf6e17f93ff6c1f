import { BatchExecuteStatementCommand } from '@aws-sdk/lib-dynamodb';
import type { Turn } from '../timer.ts';
import { type Item, isUnavailable, StatementError, type StoreParts, wasRepeated } from './dynamo.ts';

/**
 * Inserts an item that must not exist yet, together with others. Returns whether it is stored.
 *
 * `putAlone` writes the item with its own conditional put. It is called if no other item is waiting, or if the batch call did not
 * store the item. In the second case, it receives the outcome of the batch call.
 */
export type InsertTogether = (item: Item, putAlone: (earlier?: EarlierInsert) => Promise<boolean>) => Promise<boolean>;

/** The outcome of a batch call for an item that it did not confirm. */
export interface EarlierInsert {
  /** True if the item may be stored, because a repeated call found it present or the call failed as a whole. */
  readonly mayBeStored?: boolean;
  /** The transient error (`isUnavailable`) of the call or statement. The item may or may not be stored. */
  readonly failure?: unknown;
}

/**
 * Creates a writer that batches items that are ready at about the same time, such as the first attempts of a batch of messages. One
 * call writes all items that arrive in one turn of the event loop or while two calls are in flight. A PartiQL INSERT rejects only
 * the item whose key exists. A transaction would reject all.
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
    const written = write(takeTogether());
    schedule();
    await written;
    callsInFlight--;
    schedule();
  }

  /** Removes the items for one call from the queue. DynamoDB rejects a call with two items of one key. */
  function takeTogether(): WaitingInsert[] {
    const byId = new Map<unknown, WaitingInsert>();
    for (const insert of waiting) {
      if (byId.size < maxStatements && !byId.has(insert.item.id)) byId.set(insert.item.id, insert);
    }
    const together = [...byId.values()];
    waiting = waiting.filter(insert => !together.includes(insert));
    return together;
  }

  /** Writes items with one batch call. Never throws. */
  async function write(together: readonly WaitingInsert[]): Promise<void> {
    if (together.length === 1) return together[0]?.settle();
    try {
      const Statements = together.map(({ item }) => insertStatement(table, item));
      const output = await dynamo(new BatchExecuteStatementCommand({ Statements }));
      const mayBeStored = wasRepeated(output);
      together.forEach(({ settle, stored }, at) => {
        const { Responses: { [at]: answer } = [] } = output;
        const code = answer ? answer.Error?.Code : 'AnswerMissing'; // the call succeeds even if statements failed
        if (answer && !answer.Error) stored();
        else if (lasting.has(String(code))) settle({ mayBeStored });
        else settle({ failure: new StatementError(String(code), table) });
      });
    } catch (error) {
      // A call rejected as a whole writes no item, and one item may be the cause. An earlier try may have written all.
      for (const { settle } of together) settle(isUnavailable(error) ? { failure: error } : { mayBeStored: true });
    }
  }
}

interface WaitingInsert {
  readonly item: Item;
  /** Completes the insert with the item's own put. */
  readonly settle: (earlier?: EarlierInsert) => Promise<void>;
  readonly stored: () => void;
}

/** Two calls run in parallel, so that one hanging call does not block the other items. */
const maxCalls = 2;

/** Maximum number of statements per `BatchExecuteStatement`. */
const maxStatements = 25;

/** Permanent errors of a statement. The item's own put determines the cause. */
const lasting: ReadonlySet<string> = new Set([
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
