import { BatchExecuteStatementCommand } from '@aws-sdk/lib-dynamodb';
import type { Turn } from '../timer.ts';
import { type Item, isUnavailable, StatementError, type StoreParts, wasRepeated } from './dynamo.ts';

/**
 * Inserts an item that nobody may have written yet, together with others. Returns whether it is stored.
 *
 * `putAlone` writes it by a conditional put of its own: where no other is written at that moment, and where the call for
 * several did not store it. It is told what is known then, and decides.
 */
export type InsertTogether = (item: Item, putAlone: (earlier?: EarlierInsert) => Promise<boolean>) => Promise<boolean>;

/** The fate of an item in a call for several that did not confirm it. */
export interface EarlierInsert {
  /** True where it may be stored: the call was made more than once and found it there at last, or failed as a whole. */
  readonly mayBeStored?: boolean;
  /** The error of the call, or of its statement, where `isUnavailable` knows it: it may be stored or not. */
  readonly failure?: unknown;
}

/**
 * Makes the writer of items that come to an end at about the same time, as the first attempts of a batch do. What ends in one
 * turn of the event loop, or while two calls are under way, is written by one call. PartiQL's INSERT refuses each item on its
 * own where one of its key exists; a transaction would refuse all.
 *
 * `table` is one whose new items differ in their attribute `id`.
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

  /** Takes what one call can write: two items of one key would make DynamoDB refuse all. */
  function takeTogether(): WaitingInsert[] {
    const byId = new Map<unknown, WaitingInsert>();
    for (const insert of waiting) {
      if (byId.size < maxStatements && !byId.has(insert.item.id)) byId.set(insert.item.id, insert);
    }
    const together = [...byId.values()];
    waiting = waiting.filter(insert => !together.includes(insert));
    return together;
  }

  /** Never throws. */
  async function write(together: readonly WaitingInsert[]): Promise<void> {
    if (together.length === 1) return together[0]?.settle();
    try {
      const Statements = together.map(({ item }) => insertStatement(table, item));
      const output = await dynamo(new BatchExecuteStatementCommand({ Statements }));
      const mayBeStored = wasRepeated(output);
      together.forEach(({ settle, stored }, at) => {
        const { Responses: { [at]: answer } = [] } = output;
        const code = answer ? answer.Error?.Code : 'AnswerMissing'; // the call succeeds whatever became of its statements
        if (answer && !answer.Error) stored();
        else if (lasting.has(String(code))) settle({ mayBeStored });
        else settle({ failure: new StatementError(String(code), table) });
      });
    } catch (error) {
      // What is refused as a whole writes nothing, and one of the items may be the reason. An earlier try may have written all.
      for (const { settle } of together) settle(isUnavailable(error) ? { failure: error } : { mayBeStored: true });
    }
  }
}

interface WaitingInsert {
  readonly item: Item;
  /** Leaves it to its own put. */
  readonly settle: (earlier?: EarlierInsert) => Promise<void>;
  readonly stored: () => void;
}

/** One that hangs does not hold the others up. */
const maxCalls = 2;

/** The most statements of one `BatchExecuteStatement`. */
const maxStatements = 25;

/** The errors of a statement that the same statement would meet again. Its own put says which it is. */
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
