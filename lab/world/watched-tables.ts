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
  /** The command, which identifies its author. */
  readonly command: object;
}

/** An item between two moments. */
export interface Version {
  readonly from: number;
  /** `Infinity` for the current version. */
  readonly until: number;
  readonly item: Item | undefined;
}

/** The tables of a world, with the versions of each item. */
export type WatchedTables = ReturnType<typeof watchTables>;

/** Records the changes of items. The cloud calls this `execute` instead of the `execute` of the tables. */
export function watchTables(tables: Tables, now: () => number) {
  const keyNames = new Map<string, readonly string[]>(tableNames().map(name => [name, keyNamesOf(name)]));
  const writes = new Map<string, Change[]>();
  const histories = new Map<string, Map<string, Change[]>>();
  return { execute, writesOf, changesOf, versionsWithin, at };

  /** Executes a command, as the tables do. */
  function execute<Output extends object>(command: TablesCommand<Output>): Output {
    const answer = tables.execute(command);
    for (const { table, item } of writtenBy(command)) note(table, item, command);
    return answer;
  }

  /** A rejected statement has no effect, but its stored item is recorded again. */
  function note(table: string, written: Item, command: object): void {
    const key = keyOf(table, written);
    const { Item: item } = tables.execute(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
    const history = listIn(historiesOf(table), nameOf(key));
    const change = { at: now(), key, before: history.at(-1)?.item, item, command };
    history.push(change);
    listIn(writes, table).push(change);
  }

  function historiesOf(table: string): Map<string, Change[]> {
    const found = histories.get(table) ?? new Map();
    histories.set(table, found);
    return found;
  }

  /** Returns the writes of a table, in order. */
  function writesOf(table: TableName): readonly Change[] {
    return writes.get(table) ?? [];
  }

  /** Returns the changes of each item, by its key values, separated by a space. */
  function changesOf(table: TableName): ReadonlyMap<string, readonly Change[]> {
    return historiesOf(table);
  }

  /** Returns each version of an item between two moments, both included. */
  function versionsWithin(table: TableName, key: Item, from: number, to: number): readonly Version[] {
    const history = historiesOf(table).get(nameOf(keyOf(table, key))) ?? [];
    const forms = [
      { from: Number.NEGATIVE_INFINITY, item: undefined },
      ...history.map(({ at, item }) => ({ from: at, item })),
    ];
    return forms
      .map((form, index) => ({ ...form, until: forms[index + 1]?.from ?? Number.POSITIVE_INFINITY }))
      .filter(version => version.from <= to && version.until > from);
  }

  /** Returns the item at a moment, after its writes. */
  function at(table: TableName, key: Item, moment: number): Item | undefined {
    return versionsWithin(table, key, moment, moment).at(-1)?.item;
  }

  function keyOf(table: string, item: Item): Item {
    return Object.fromEntries((keyNames.get(table) ?? []).map(name => [name, item[name]]));
  }
}

/** Returns the versions of a span. */
export function itemsWithin(changes: readonly Change[], from: number, until: number): readonly (Item | undefined)[] {
  const meanwhile = changes.filter(({ at }) => from < at && at <= until).map(({ item }) => item);
  return [changes.findLast(({ at }) => at <= from)?.item, ...meanwhile];
}

function listIn(lists: Map<string, Change[]>, name: string): Change[] {
  const found = lists.get(name) ?? [];
  lists.set(name, found);
  return found;
}

function nameOf(key: Item): string {
  return Object.values(key).join(' ');
}

function keyNamesOf(table: TableName): readonly string[] {
  return tableDefinition(table).KeySchema.map(({ AttributeName = '' }) => AttributeName);
}

/** Returns the writes of a command: the key of each item, perhaps with its other attributes. */
function writtenBy(command: object): readonly { readonly table: string; readonly item: Item }[] {
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
        each => (each ? writtenBy(each) : []),
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
