import type { Database } from './database.ts';

/** Calls to the store, and the items that they read and wrote. */
export interface CallCounts {
  readonly calls: number;
  readonly read: number;
  readonly written: number;
}

/** Counts what is sent through a test file's database from now on. */
export function countCalls(database: Database) {
  let counts = nothing;
  let isContended = false;
  database.client.middlewareStack.add(
    (next, context) => async args => {
      const name = context.commandName ?? '';
      const input = args.input as unknown as Input;
      const [read, written] = [readsOf(name, input), writesOf(name, input)];
      counts = { calls: counts.calls + 1, read: counts.read + read, written: counts.written + written };
      if (isContended && input.ConditionExpression !== undefined) {
        throw Object.assign(new Error('lost'), { name: 'ConditionalCheckFailedException' });
      }
      const answer = await next(args);
      const { ScannedCount = 0 } = answer.output as { ScannedCount?: number }; // what a filter leaves out was read, too
      counts = { ...counts, read: counts.read + ScannedCount };
      return answer;
    },
    { step: 'initialize', name: 'countCalls' },
  );
  return {
    /** Returns the counts so far, and begins anew. */
    take: (): CallCounts => {
      const taken = counts;
      counts = nothing;
      return taken;
    },
    /** Has every conditional write lose its race while this runs. */
    contended: async <Result>(run: () => Promise<Result>): Promise<Result> => {
      isContended = true;
      try {
        return await run();
      } finally {
        isContended = false;
      }
    },
  };
}

const nothing: CallCounts = { calls: 0, read: 0, written: 0 };

interface Input {
  readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly object[] }>>;
  readonly Statements?: readonly object[];
  readonly ConditionExpression?: string;
}

/** Items that are read by their keys, whether or not they are there: DynamoDB bills them alike. */
function readsOf(name: string, { RequestItems = {} }: Input): number {
  const keys = Object.values(RequestItems).reduce((sum, { Keys = [] }) => sum + Keys.length, 0);
  return keys + (name.startsWith('GetItem') ? 1 : 0);
}

function writesOf(name: string, { Statements = [] }: Input): number {
  return Statements.length + (/^(?:Put|Update|Delete)Item/.test(name) ? 1 : 0);
}
