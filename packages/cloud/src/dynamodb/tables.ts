import type {
  DeleteItemCommandInput,
  DescribeTableCommandInput,
  GetItemCommandInput,
  ListTablesCommandInput,
  PutItemCommandInput,
  UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { ServiceError } from '../service-error.ts';
import type { Attributes } from './attribute-values.ts';
import { makeBatchOperations } from './batches.ts';
import { documentOf, type NativeItem, nativeItem, requestOf } from './documents.ts';
import { checkOptions, unsupported, validationError } from './errors.ts';
import { makeQueries } from './queries.ts';
import { makeTable, type Table, type TableDefinition } from './table.ts';
import { makeTransactions } from './transactions.ts';
import { makeWrites } from './writes.ts';

/** An in-memory DynamoDB. */
export type Tables = ReturnType<typeof makeTables>;

export interface TableSnapshot {
  readonly definition: TableDefinition;
  readonly items: readonly Attributes[];
}

/** An SDK client's command. Only its response type is declared. */
export interface TablesCommand<Output extends object> {
  readonly input: object;
  resolveMiddleware(
    stack: never,
    configuration: never,
    options: never,
  ): (...parameters: never[]) => Promise<{ output: Output }>;
}

/** Creates an in-memory DynamoDB. It is deterministic: callers supply time and randomness. TTL has no effect. */
export function makeTables({
  definitions = [],
  now,
  lag = () => 0,
}: {
  readonly definitions?: readonly TableDefinition[];
  /** Returns the time in milliseconds. */
  readonly now: () => number;
  /** Returns the lag of index reads and eventually consistent reads in milliseconds, at most 300. @default 0 */
  readonly lag?: () => number;
}) {
  const tables = new Map<string | undefined, { readonly definition: TableDefinition; readonly table: Table }>();
  const queries = makeQueries(tableOf);
  const batches = makeBatchOperations(tableOf);
  const writes = makeWrites(tableOf);
  /** The API operations. They throw a `ServiceError` if DynamoDB rejects a request, and another error if a feature is not emulated. */
  const operations: Readonly<Record<string, (input: never) => object>> = {
    GetItem: get,
    PutItem: (request: PutItemCommandInput) => writes.execute(writes.put(request)),
    UpdateItem: (request: UpdateItemCommandInput) => writes.execute(writes.update(request)),
    DeleteItem: (request: DeleteItemCommandInput) => writes.execute(writes.remove(request)),
    TransactWriteItems: makeTransactions(writes, now),
    Query: queries.query,
    Scan: queries.scan,
    BatchGetItem: batches.get,
    BatchWriteItem: batches.write,
    BatchExecuteStatement: batches.insert,
    CreateTable: create,
    DescribeTable: describe,
    ListTables: list,
  };
  for (const definition of definitions) create(definition);
  return {
    operations,
    execute,
    /** Returns the current items of a table. */
    items: (table: string): readonly NativeItem[] => tableOf(table).items().map(nativeItem),
    /** Returns the definition of a table, if it exists. */
    definition: (table: string | undefined) => tables.get(table)?.definition,
    snapshot,
    restore,
  };

  /** Executes an SDK command. It throws the same errors as the operation. */
  function execute<Output extends object>(command: TablesCommand<Output>): Output;
  function execute(command: { readonly input: object; readonly clientCommand?: object }): object {
    const { clientCommand, input } = command; // a document client's command wraps the plain client's command
    const operation = (clientCommand ?? command).constructor.name.replace(/Command$/, '');
    const perform = operations[operation];
    if (!perform) throw unsupported(`the operation ${operation}`);
    return clientCommand ? documentOf(perform(requestOf(input) as never)) : perform(input as never);
  }

  function create(request: TableDefinition): object {
    const { TableName, KeySchema, AttributeDefinitions, GlobalSecondaryIndexes } = request;
    if (tables.has(TableName)) throw new ServiceError('ResourceInUseException', `Table already exists: ${TableName}`);
    const definition = { TableName, KeySchema, AttributeDefinitions, GlobalSecondaryIndexes };
    tables.set(TableName, { definition, table: makeTable(definition, now, lag) });
    return { TableDescription: describe({ TableName }).Table };
  }

  function describe({ TableName }: DescribeTableCommandInput) {
    const { definition } = find(TableName);
    return { Table: { ...definition, TableStatus: 'ACTIVE' } };
  }

  function list(request: ListTablesCommandInput): object {
    checkOptions(request, []);
    return { TableNames: [...tables.keys()].toSorted() };
  }

  function snapshot(): readonly TableSnapshot[] {
    return [...tables.values()].map(({ definition, table }) => ({ definition, items: table.items() }));
  }

  function restore(snapshots: readonly TableSnapshot[]): void {
    for (const { definition, items } of snapshots) {
      create(definition);
      for (const item of items) tableOf(definition.TableName).put(item);
    }
  }

  function get(request: GetItemCommandInput): object {
    checkOptions(request, ['TableName', 'Key', 'ConsistentRead']);
    const Item = tableOf(request.TableName).read(request.Key ?? {}, request.ConsistentRead);
    return Item ? { Item } : {};
  }

  function tableOf(name: string | undefined): Table {
    return find(name).table;
  }

  function find(name: string | undefined) {
    const entry = tables.get(name);
    if (entry) return entry;
    if (name === undefined) throw validationError('The parameter TableName is required');
    throw new ServiceError('ResourceNotFoundException', 'Requested resource not found');
  }
}
