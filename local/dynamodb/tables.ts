import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type DynamoDBClient,
  ListTablesCommand,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { physicalName } from '../assembly/identities.ts';
import { type LiveResource, readProperties } from '../assembly/resources.ts';
import { StartError } from '../errors.ts';

/** What creates a table of the template. @throws {StartError} */
export function tableOf(resource: LiveResource): CreateTableCommandInput {
  const { TableName, ...shape } = readProperties(tableSchema, resource);
  return {
    TableName: TableName ?? physicalName(resource.stack, resource.logicalId),
    BillingMode: 'PAY_PER_REQUEST',
    ...shape,
  };
}

/**
 * Creates the tables that are not there yet and waits until all of them can be used.
 *
 * @throws {StartError} when a kept table has another key design than the template's.
 */
export async function createTables(
  client: Pick<DynamoDBClient, 'send'>,
  tables: readonly CreateTableCommandInput[],
): Promise<void> {
  const { TableNames: kept = [] } = await client.send(new ListTablesCommand({}));
  await Promise.all(
    tables.map(async table => {
      if (!kept.includes(table.TableName ?? '')) await client.send(new CreateTableCommand(table));
      const describe = async () => (await client.send(new DescribeTableCommand({ TableName: table.TableName }))).Table;
      let found = await describe();
      while (found?.TableStatus !== 'ACTIVE') found = await describe();
      if (designOf(found) !== designOf(table)) {
        throw new StartError(`The kept table ${table.TableName} has other keys or indexes now: use a fresh --data.`);
      }
    }),
  );
}

const keySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));

/** TTL, recovery, protection and encryption are inert: expiry is enforced in the functions. */
const tableSchema = z.object({
  TableName: z.string().optional(),
  KeySchema: keySchema,
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) })),
  GlobalSecondaryIndexes: z
    .array(
      z.object({
        IndexName: z.string(),
        KeySchema: keySchema,
        Projection: z.object({
          ProjectionType: z.enum(['ALL', 'KEYS_ONLY', 'INCLUDE']),
          NonKeyAttributes: z.array(z.string()).optional(),
        }),
      }),
    )
    .optional(),
});

/** What two tables must have in common to be taken for each other. */
function designOf({ KeySchema, GlobalSecondaryIndexes }: Shape): string {
  const keys = (schema: CreateTableCommandInput['KeySchema']) =>
    (schema ?? []).map(({ AttributeName, KeyType }) => `${KeyType}:${AttributeName}`).sort();
  const indexes = (GlobalSecondaryIndexes ?? []).map(index => `${index.IndexName}(${keys(index.KeySchema)})`).sort();
  return JSON.stringify([keys(KeySchema), indexes]);
}

type Shape = CreateTableCommandInput | TableDescription;
