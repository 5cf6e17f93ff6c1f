import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { readKey } from '../dynamodb/keys.ts';
import type { TableDefinition } from '../dynamodb/table.ts';
import { makeTables, type TableSnapshot } from '../dynamodb/tables.ts';
import { requestSchema } from '../dynamodb/wire.ts';
import { ServiceError } from '../service-error.ts';
import { type LiveResource, readProperties } from './assembly/resources.ts';
import { type AwsJsonService, type Interceptor, type Operation, startAwsJsonService } from './emulator.ts';
import { messageOf, StartError } from './errors.ts';

export interface DynamoDb extends AwsJsonService {
  /**
   * Creates a table, unless an earlier run stored it.
   *
   * @throws {StartError} if the stored table has different keys or indexes
   */
  ensureTable(definition: TableDefinition): void;
  readonly snapshot: () => readonly TableSnapshot[];
  /** Returns the number of operations that may have changed the tables. */
  readonly changes: () => number;
}

/** Starts a DynamoDB emulator on 127.0.0.1. @throws {StartError} if the port is not available */
export async function startDynamoDb({
  interceptors = [],
  port,
  stored = [],
}: {
  readonly interceptors?: readonly Interceptor[];
  /** The port. @default 0 - any free port */
  readonly port?: number | undefined;
  /** The tables from an earlier run. @default - no tables */
  readonly stored?: readonly TableSnapshot[] | undefined;
} = {}): Promise<DynamoDb> {
  const tables = makeTables({ now: Date.now });
  tables.restore(stored);
  let changes = 0;
  const operations = Object.fromEntries(Object.entries(tables.operations).map(([name]) => [name, operationOf(name)]));
  const service = await startAwsJsonService('dynamodb', operations, interceptors, 'SerializationException', { port });
  return { ...service, ensureTable, snapshot: tables.snapshot, changes: () => changes };

  function operationOf(name: string): Operation {
    const isRead = /^(?:BatchGet|Describe|Get|List|Query|Scan)/.test(name);
    return function perform(input) {
      const request = requestSchema.parse(input);
      if (!isRead) changes += 1;
      try {
        return tables.operations[name]?.(request as never) ?? {};
      } catch (error) {
        if (error instanceof ServiceError) throw error;
        throw new ServiceError('ValidationException', messageOf(error)); // the emulator does not support the feature
      }
    };
  }

  function ensureTable(definition: TableDefinition): void {
    const existing = tables.definition(definition.TableName);
    if (!existing) tables.operations.CreateTable?.(definition as never);
    else if (designOf(existing) !== designOf(definition)) {
      throw new StartError(`The stored table ${definition.TableName} has different keys or indexes`, 'data-unfit');
    }
  }
}

/** Parses a table in the template. @throws {StartError} */
export function tableOf(resource: LiveResource): TableDefinition {
  return { TableName: resource.name, ...readProperties(tableSchema, resource) };
}

const keySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));

/** Only keys and indexes have an effect. TTL has no effect, because the functions enforce expiry. */
const tableSchema = z.object({
  KeySchema: keySchema,
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) })),
  GlobalSecondaryIndexes: z
    .array(
      z.object({
        IndexName: z.string(),
        KeySchema: keySchema,
        Projection: z.object({
          ProjectionType: z.literal('KEYS_ONLY', 'only indexes that project keys are supported locally'),
        }),
      }),
    )
    .optional(),
  LocalSecondaryIndexes: z.undefined('local secondary indexes are not supported locally').optional(),
});

/** Returns the keys and indexes as text, for comparison. */
function designOf({ KeySchema, AttributeDefinitions, GlobalSecondaryIndexes = [] }: TableDefinition): string {
  const keyOf = (schema: CreateTableCommandInput['KeySchema']) => readKey(schema, AttributeDefinitions);
  const indexes = GlobalSecondaryIndexes.map(index => [index.IndexName, keyOf(index.KeySchema)]);
  return JSON.stringify([keyOf(KeySchema), indexes.sort()]);
}
