import { BatchWriteCommand, DeleteCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Tables, TablesCommand } from '@emissor/virtual-cloud/dynamodb/tables';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { type TableName, tableDefinition, tableNames } from '../../../tools/support/tables.ts';

/** A write of one item, at the moment it took effect. */
export interface Change {
  readonly at: number;
  readonly table: string;
  readonly key: Item;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
  /** The command, which tells whose it was. */
  readonly command: object;
}

/** An item as it stood from one moment to another. */
export interface Version {
  readonly from: number;
  /** Infinity for what stands still. */
  readonly until: number;
  readonly item: Item | undefined;
}

/** What was written to the tables of a world, write by write. */
export type TableHistory = ReturnType<typeof makeTableHistory>;

/** Makes tables that remember: `execute` is what the cloud is given in place of theirs. */
export function makeTableHistory(tables: Tables, now: () => number) {
  const changes: Change[] = [];
  const versions = new Map<string, Omit<Version, 'until'>[]>();
  return { execute, changes: () => changes, changesOf, versionsWithin, at };

  /** Executes a command as the tables do, and notes what it wrote. */
  function execute<Output extends object>(command: TablesCommand<Output>): Output {
    const keys = keysWritten(command);
    const before = keys.map(read);
    const answer = tables.execute(command);
    for (const [index, { table, key }] of keys.entries()) {
      const change = { at: now(), table, key, before: before[index], after: read({ table, key }), command };
      changes.push(change);
      const name = nameOf(table, key);
      const earlier = versions.get(name) ?? [{ from: Number.NEGATIVE_INFINITY, item: change.before }];
      earlier.push({ from: change.at, item: change.after });
      versions.set(name, earlier);
    }
    return answer;
  }

  function read({ table, key }: Written): Item | undefined {
    return tables.execute(new GetCommand({ TableName: table, Key: key })).Item;
  }

  /** Returns the writes of one table, in order. */
  function changesOf(table: TableName): readonly Change[] {
    return changes.filter(change => change.table === table);
  }

  /** Returns each form in which an item stood at some time between two moments, both included. */
  function versionsWithin(table: TableName, key: Item, from: number, to: number): readonly Version[] {
    const all = versions.get(nameOf(table, key)) ?? [{ from: Number.NEGATIVE_INFINITY, item: undefined }];
    return all
      .map((version, index) => ({ ...version, until: all[index + 1]?.from ?? Number.POSITIVE_INFINITY }))
      .filter(version => version.from <= to && version.until > from);
  }

  /** Returns an item as it stood at a moment, after what was written then. */
  function at(table: TableName, key: Item, moment: number): Item | undefined {
    return versionsWithin(table, key, moment, moment).at(-1)?.item;
  }
}

interface Written {
  readonly table: string;
  readonly key: Item;
}

function keysWritten(command: object): readonly Written[] {
  if (command instanceof PutCommand) return [written(command.input.TableName, command.input.Item)];
  if (command instanceof UpdateCommand || command instanceof DeleteCommand) {
    return [written(command.input.TableName, command.input.Key)];
  }
  if (!(command instanceof BatchWriteCommand)) return [];
  return Object.entries(command.input.RequestItems ?? {}).flatMap(([table, requests]) =>
    requests.map(({ PutRequest, DeleteRequest }) => written(table, PutRequest?.Item ?? DeleteRequest?.Key)),
  );
}

function written(table = '', item: Item = {}): Written {
  return { table, key: Object.fromEntries(keyNames(table).map(name => [name, item[name]])) };
}

function keyNames(table: string): readonly string[] {
  const name = tableNames().find(each => each === table);
  return name === undefined ? [] : tableDefinition(name).KeySchema.map(({ AttributeName = '' }) => AttributeName);
}

function nameOf(table: string, key: Item): string {
  return [table, ...keyNames(table).map(name => key[name])].join(' ');
}
