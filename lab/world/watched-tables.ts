import {
  BatchExecuteStatementCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Tables, TablesCommand } from '@emissor/virtual-cloud/dynamodb/tables';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';

/** An item as it is after a write. */
export interface Change {
  readonly at: number;
  readonly item: Item | undefined;
}

/** The tables of a world, which keep what each item of some of them was at any time. */
export type WatchedTables = ReturnType<typeof watchTables>;

/** Makes tables keep the changes of their items. */
export function watchTables(tables: Tables, now: () => number) {
  const changes = new Map<string, Map<string, Change[]>>();
  for (const table of Object.keys(keysOfWatched)) changes.set(table, new Map());
  return { execute, changesOf };

  /** Executes a command, as the tables do. */
  function execute(command: TablesCommand<object>): object {
    const answer = tables.execute(command);
    for (const { table, key } of writtenBy(command)) note(table, key);
    return answer;
  }

  /** Returns the changes of each item, by the values of its key with a space between. */
  function changesOf(table: keyof typeof keysOfWatched): ReadonlyMap<string, readonly Change[]> {
    return changes.get(table) ?? new Map();
  }

  /** A statement that was refused wrote nothing: what stands there is noted once more. */
  function note(table: string, written: Item): void {
    const ofTable = changes.get(table);
    if (!ofTable) return;
    const key = Object.fromEntries((keysOfWatched[table] ?? []).map(name => [name, written[name]]));
    const { Item: item } = tables.execute(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
    const name = Object.values(key).join(' ');
    const known = ofTable.get(name) ?? [];
    known.push({ at: now(), item });
    ofTable.set(name, known);
  }
}

/** Returns what stood there at any time of a span. */
export function itemsWithin(changes: readonly Change[], from: number, until: number): readonly (Item | undefined)[] {
  const meanwhile = changes.filter(({ at }) => from < at && at <= until).map(({ item }) => item);
  return [changes.findLast(({ at }) => at <= from)?.item, ...meanwhile];
}

const keysOfWatched: Readonly<Record<string, readonly string[]>> = {
  Webhooks: ['accountId', 'eventName'],
  Deliveries: ['id', 'part'],
};

/** Returns the keys of what a command writes, each perhaps with the rest of the item. */
function writtenBy(command: TablesCommand<object>): readonly { readonly table: string; readonly key: Item }[] {
  if (command instanceof PutCommand) return [{ table: command.input.TableName ?? '', key: command.input.Item ?? {} }];
  if (command instanceof UpdateCommand || command instanceof DeleteCommand) {
    return [{ table: command.input.TableName ?? '', key: command.input.Key ?? {} }];
  }
  if (command instanceof BatchWriteCommand) {
    return Object.entries(command.input.RequestItems ?? {}).flatMap(([table, writes]) =>
      writes.map(({ PutRequest, DeleteRequest }) => ({ table, key: PutRequest?.Item ?? DeleteRequest?.Key ?? {} })),
    );
  }
  if (!(command instanceof BatchExecuteStatementCommand)) return [];
  return (command.input.Statements ?? []).map(({ Statement = '', Parameters = [] }) => {
    const names = [...Statement.matchAll(/'([^',]+)':\?/g)].map(([, name = '']) => name);
    const table = /"([^"]+)"/.exec(Statement)?.[1] ?? '';
    return { table, key: Object.fromEntries(names.map((name, at) => [name, Parameters[at]])) };
  });
}
