import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  type TranslateConfig,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Attributes } from './attribute-values.ts';
import { makeBatches } from './batches.ts';
import { notImplemented, tableNotFound } from './errors.ts';
import { makeQueries } from './queries.ts';
import { makeSingleItems } from './single-items.ts';
import { makeStatements } from './statements.ts';
import { makeTable, type Table, type TableDefinition } from './table.ts';
import { makeTranslation, type NativeItem } from './translation.ts';

/** A DynamoDB in memory. */
export interface Tables {
  /**
   * Executes a command of the document client at once, and returns its answer.
   *
   * @throws the SDK's own error where DynamoDB refuses it; another where it is not known here.
   */
  readonly execute: <Output extends object>(command: TablesCommand<Output>) => Output;
  /** Returns the items of a table, for looks: no index or lag is in between. */
  readonly items: (table: string) => readonly NativeItem[];
  /** Returns the same as attribute values. */
  readonly raw: (table: string) => readonly Attributes[];
}

/** A command of the document client, as far as it matters here: its answer's type is known. */
export interface TablesCommand<Output extends object> {
  readonly input: object;
  resolveMiddleware(
    stack: never,
    configuration: never,
    options: never,
  ): (...given: never[]) => Promise<{ output: Output }>;
}

/** Makes a DynamoDB in memory. It decides nothing by itself: time and chance are given. TTL has no effect. */
export function makeTables({
  definitions,
  now,
  indexLag = () => 0,
  translate,
  mostUnprocessed = () => 0,
}: {
  readonly definitions: readonly TableDefinition[];
  /** Returns the time, in milliseconds. */
  readonly now: () => number;
  /** Returns after how many milliseconds an index sees a write. @default 0 */
  readonly indexLag?: () => number;
  /** The settings of the document client that is stood in for. @default - its defaults */
  readonly translate?: TranslateConfig;
  /** Returns how many of a batch stay unprocessed. @default 0 */
  readonly mostUnprocessed?: (count: number) => number;
}): Tables {
  const tables = new Map(
    definitions.map(definition => [definition.TableName, makeTable(definition, { now, lag: indexLag })]),
  );
  const translation = makeTranslation(translate);
  const single = makeSingleItems(tableOf, translation);
  const many = makeQueries(tableOf, translation);
  const batch = makeBatches(tableOf, translation, mostUnprocessed);
  const executeStatements = makeStatements(tableOf, translation);
  return { execute, items, raw };

  function execute<Output extends object>(command: TablesCommand<Output>): Output;
  function execute(command: object): object {
    if (command instanceof GetCommand) return single.get(command.input);
    if (command instanceof PutCommand) return single.put(command.input);
    if (command instanceof UpdateCommand) return single.update(command.input);
    if (command instanceof DeleteCommand) return single.remove(command.input);
    if (command instanceof QueryCommand) return many.query(command.input);
    if (command instanceof ScanCommand) return many.scan(command.input);
    if (command instanceof BatchGetCommand) return batch.get(command.input);
    if (command instanceof BatchWriteCommand) return batch.write(command.input);
    if (command instanceof BatchExecuteStatementCommand) return executeStatements(command.input);
    throw notImplemented(`the command ${command.constructor.name}`);
  }

  function items(table: string): readonly NativeItem[] {
    return raw(table).map(translation.native);
  }

  function raw(table: string): readonly Attributes[] {
    return tableOf(table).items();
  }

  /** @throws {ResourceNotFoundException} */
  function tableOf(name: string | undefined): Table {
    const table = tables.get(name);
    if (!table) throw tableNotFound();
    return table;
  }
}
