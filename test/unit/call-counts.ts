import { vi } from 'vitest';
import type { Database } from '../support/database/database.ts';
import type { Stage } from '../support/stage.ts';

/** Calls to the store, and the items that they read and wrote. */
export type CallCounts = Readonly<typeof nothing>;

/** Counts what is sent through a test file's database from now on. */
export function countCalls(database: Database) {
  const { begin, addRead, looks } = makeCounts();
  database.client.middlewareStack.add(
    (next, context) => async args => {
      begin(context.commandName ?? '', args.input as unknown as Input);
      const answer = await next(args);
      addRead(answer.output);
      return answer;
    },
    { step: 'initialize', name: 'countCalls' },
  );
  return looks;
}

/** Counts what is asked of the tables of a stage from now on, except for who asks. */
export function countCommands({ tables }: Pick<Stage, 'tables'>) {
  const { begin, addRead, looks } = makeCounts();
  const { execute } = tables;
  vi.spyOn(tables, 'execute').mockImplementation(command => {
    if (/"(?:Clients|Users|Sessions)"/.test(JSON.stringify(command.input))) return execute(command);
    begin(command.constructor.name, command.input);
    const answer = execute(command);
    addRead(answer);
    return answer;
  });
  return looks;
}

function makeCounts() {
  let counts = nothing;
  let isContended = false;
  let lostCounts = 0;
  return { begin, addRead, looks: { take, contended } };

  function begin(name: string, input: Input): void {
    // DynamoDB bills reads by key alike, whether or not the item is there.
    const { RequestItems = {}, Statements = [] } = input;
    const keys = Object.values(RequestItems).flatMap(({ Keys = [] }) => Keys);
    const read = keys.length + Number(name.startsWith('Get'));
    const written = Statements.length + Number(/^(?:Put|Update|Delete)/.test(name));
    counts = { calls: counts.calls + 1, read: counts.read + read, written: counts.written + written };
    if (isContended && input.ConditionExpression !== undefined && !isLastCount(input)) {
      throw Object.assign(new Error('lost'), { name: 'ConditionalCheckFailedException' });
    }
  }

  /** A rate limit takes four conditional writes at most. The third one succeeds: otherwise the request would end there. */
  function isLastCount({ Key = {} }: Input): boolean {
    if (!String(Key.id).startsWith('limit#')) return false;
    lostCounts += 1;
    return lostCounts >= 3;
  }

  /** Counts what a query read: also what a filter left out. */
  function addRead(answer: object): void {
    const { ScannedCount = 0 }: { readonly ScannedCount?: number } = { ...answer };
    counts = { ...counts, read: counts.read + ScannedCount };
  }

  /** Returns the counts so far, and starts again at zero. */
  function take(): CallCounts {
    const taken = counts;
    counts = nothing;
    return taken;
  }

  /** Has every conditional write lose its race while this runs, but for the last try to count. */
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

const nothing = { calls: 0, read: 0, written: 0 };

interface Input {
  readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly object[] }>>;
  readonly Statements?: readonly object[];
  readonly ConditionExpression?: string;
  readonly Key?: Readonly<Record<string, unknown>>;
}
