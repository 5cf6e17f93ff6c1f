import {
  BatchExecuteStatementCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Tables, TablesCommand } from '@emissor/cloud/dynamodb/tables';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import { type TableName, tableDefinition, tableNames } from '../../tools/support/tables.ts';

/** A write of one item, at the time of its effect. */
export interface Change {
  readonly at: number;
  readonly key: Item;
  readonly before: Item | undefined;
  /** The item after the write. */
  readonly item: Item | undefined;
  /** The command that caused the write. */
  readonly command: object;
}

/** A version of an item, and the start and end of its validity. */
export interface Version {
  readonly from: number;
  /** The end of its validity, or `Infinity` for the current version. */
  readonly until: number;
  readonly item: Item | undefined;
}

/** The tables of a world, with all versions of each item. */
export type WatchedTables = ReturnType<typeof watchTables>;

/** Wraps tables to record the versions of each item. The virtual cloud calls `execute` of the wrapper. */
export function watchTables(tables: Tables, now: () => number) {
  const keyNames = new Map<string, readonly string[]>(tableNames().map(name => [name, keyNamesOf(name)]));
  const writes = new Map<string, Change[]>();
  const histories = new Map<string, Map<string, Change[]>>();
  return { execute, writesOf, changesOf, versionsWithin, itemAt };

  /** Executes a command and records its writes. */
  function execute<Output extends object>(command: TablesCommand<Output>): Output {
    const output = tables.execute(command);
    for (const { table, item } of writesOfCommand(command)) recordWrite(table, item, command);
    return output;
  }

  /** Records the stored item after a write. A rejected statement repeats the previous version. */
  function recordWrite(table: string, written: Item, command: object): void {
    const key = keyOf(table, written);
    const { Item: item } = tables.execute(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
    const history = listIn(historiesOf(table), nameOf(key));
    const change = { at: now(), key, before: history.at(-1)?.item, item, command };
    history.push(change);
    listIn(writes, table).push(change);
  }

  function historiesOf(table: string): Map<string, Change[]> {
    const history = histories.get(table) ?? new Map();
    histories.set(table, history);
    return history;
  }

  /** Returns the writes of a table, in order. */
  function writesOf(table: TableName): readonly Change[] {
    return writes.get(table) ?? [];
  }

  /** Returns the changes of each item. The key of the map contains the item's key values, separated by a space. */
  function changesOf(table: TableName): ReadonlyMap<string, readonly Change[]> {
    return historiesOf(table);
  }

  /** Returns the versions of an item that were current between two times, inclusive. */
  function versionsWithin(table: TableName, key: Item, from: number, to: number): readonly Version[] {
    const history = historiesOf(table).get(nameOf(keyOf(table, key))) ?? [];
    const versions = [
      { from: Number.NEGATIVE_INFINITY, item: undefined },
      ...history.map(({ at, item }) => ({ from: at, item })),
    ];
    return versions
      .map((version, index) => ({ ...version, until: versions[index + 1]?.from ?? Number.POSITIVE_INFINITY }))
      .filter(version => version.from <= to && version.until > from);
  }

  /** Returns the item as it was at `moment`, including writes at that time. */
  function itemAt(table: TableName, key: Item, moment: number): Item | undefined {
    return versionsWithin(table, key, moment, moment).at(-1)?.item;
  }

  function keyOf(table: string, item: Item): Item {
    return Object.fromEntries((keyNames.get(table) ?? []).map(name => [name, item[name]]));
  }
}

/** Returns the versions of an item in a period, starting with the version that was current at `from`. */
export function itemsWithin(changes: readonly Change[], from: number, until: number): readonly (Item | undefined)[] {
  const later = changes.filter(({ at }) => from < at && at <= until).map(({ item }) => item);
  return [changes.findLast(({ at }) => at <= from)?.item, ...later];
}

function listIn(lists: Map<string, Change[]>, name: string): Change[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}

function nameOf(key: Item): string {
  return Object.values(key).join(' ');
}

function keyNamesOf(table: TableName): readonly string[] {
  return tableDefinition(table).KeySchema.map(({ AttributeName = '' }) => AttributeName);
}

/** Returns the items that a command writes. Each item has at least its key attributes. */
function writesOfCommand(command: object): readonly { readonly table: string; readonly item: Item }[] {
  if (command instanceof PutCommand) return [{ table: command.input.TableName ?? '', item: command.input.Item ?? {} }];
  if (command instanceof UpdateCommand || command instanceof DeleteCommand) {
    return [{ table: command.input.TableName ?? '', item: command.input.Key ?? {} }];
  }
  if (command instanceof BatchWriteCommand) {
    return Object.entries(command.input.RequestItems ?? {}).flatMap(([table, writes]) =>
      writes.map(({ PutRequest, DeleteRequest }) => ({ table, item: PutRequest?.Item ?? DeleteRequest?.Key ?? {} })),
    );
  }
  if (command instanceof TransactWriteCommand) {
    return (command.input.TransactItems ?? []).flatMap(({ Put, Update, Delete }) =>
      [Put && new PutCommand(Put), Update && new UpdateCommand(Update), Delete && new DeleteCommand(Delete)].flatMap(
        each => (each ? writesOfCommand(each) : []),
      ),
    );
  }
  if (!(command instanceof BatchExecuteStatementCommand)) return [];
  return (command.input.Statements ?? []).map(({ Statement = '', Parameters = [] }) => {
    const names = [...Statement.matchAll(/'([^',]+)':\?/g)].map(([, name = '']) => name);
    const table = /"([^"]+)"/.exec(Statement)?.[1] ?? '';
    return { table, item: Object.fromEntries(names.map((name, at) => [name, Parameters[at]])) };
  });
}
