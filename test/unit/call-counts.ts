import { vi } from 'vitest';
import type { Database } from '../support/database/database.ts';
import type { Stage } from '../support/stage.ts';

/** The numbers of store calls, items read and items written. */
export type CallCounts = Readonly<typeof zeroCounts>;

/** Starts counting the calls to the database of a test file. */
export function countCalls(database: Database) {
  const { begin, addRead, controls } = makeCounts();
  database.client.middlewareStack.add(
    (next, context) => async args => {
      begin(context.commandName ?? '', args.input as unknown as Input);
      const response = await next(args);
      addRead(response.output);
      return response;
    },
    { step: 'initialize', name: 'countCalls' },
  );
  return controls;
}

/** Starts counting the calls to the tables of a stage, except for the authentication of the caller. */
export function countCommands({ tables }: Pick<Stage, 'tables'>) {
  const { begin, addRead, controls } = makeCounts();
  const { execute } = tables;
  vi.spyOn(tables, 'execute').mockImplementation(command => {
    if (/"(?:Clients|Users|Sessions)"/.test(JSON.stringify(command.input))) return execute(command);
    begin(command.constructor.name, command.input);
    const response = execute(command);
    addRead(response);
    return response;
  });
  return controls;
}

function makeCounts() {
  let counts = zeroCounts;
  let isContended = false;
  let lostCounts = 0;
  return { begin, addRead, controls: { take, contended } };

  function begin(name: string, input: Input): void {
    // DynamoDB also bills reads of missing items.
    const { RequestItems = {}, Statements = [] } = input;
    const keys = Object.values(RequestItems).flatMap(({ Keys = [] }) => Keys);
    const read = keys.length + Number(name.startsWith('Get'));
    const written = Statements.length + Number(/^(?:Put|Update|Delete)/.test(name));
    counts = { calls: counts.calls + 1, read: counts.read + read, written: counts.written + written };
    if (isContended && input.ConditionExpression !== undefined && !isLastCount(input)) {
      throw Object.assign(new Error('lost'), { name: 'ConditionalCheckFailedException' });
    }
  }

  /** Lets the third conditional write for a rate limit succeed. Otherwise, the request would end at the limit. */
  function isLastCount({ Key = {} }: Input): boolean {
    if (!String(Key.id).startsWith('limit#')) return false;
    lostCounts += 1;
    return lostCounts >= 3;
  }

  /** Counts the items that a query read, including those that its filter removed. */
  function addRead(response: object): void {
    const { ScannedCount = 0 }: { readonly ScannedCount?: number } = { ...response };
    counts = { ...counts, read: counts.read + ScannedCount };
  }

  /** Returns the counts and resets them. */
  function take(): CallCounts {
    const result = counts;
    counts = zeroCounts;
    return result;
  }

  /** Makes every conditional write fail during `run`, except the last write for a rate limit. */
  async function contended<Result>(run: () => Promise<Result>): Promise<Result> {
    isContended = true;
    lostCounts = 0;
    try {
      return await run();
    } finally {
      isContended = false;
    }
  }
}

const zeroCounts = { calls: 0, read: 0, written: 0 };

interface Input {
  readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly object[] }>>;
  readonly Statements?: readonly object[];
  readonly ConditionExpression?: string;
  readonly Key?: Readonly<Record<string, unknown>>;
}
