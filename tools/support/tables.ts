import type { AttributeDefinition, GlobalSecondaryIndex, KeySchemaElement } from '@aws-sdk/client-dynamodb';

/** The name of a table in tests and in `lab`. */
export type TableName = (typeof tables)[number]['name'];

/** The keys and indexes of a table, as in `CreateTable` and CloudFormation. */
export interface TableDefinition {
  readonly AttributeDefinitions: AttributeDefinition[];
  readonly KeySchema: KeySchemaElement[];
  readonly GlobalSecondaryIndexes?: GlobalSecondaryIndex[];
}

export function tableNames(): readonly TableName[] {
  return tables.map(({ name }) => name);
}

/** Returns the definition of a table. @throws {RangeError} if the table does not exist */
export function tableDefinition(name: TableName): TableDefinition {
  const table: TableKeys | undefined = tables.find(each => each.name === name);
  if (!table) throw new RangeError(`The table ${name} does not exist.`);
  const { key, indexes = {} } = table;
  const attributes = [...new Set([...key, ...Object.values(indexes).flat()])];
  const secondary = Object.entries(indexes).map(([index, indexKey]) => ({
    IndexName: index,
    KeySchema: keySchema(indexKey),
    Projection: { ProjectionType: 'KEYS_ONLY' as const },
  }));
  return {
    AttributeDefinitions: attributes.map(attribute => ({
      AttributeName: attribute,
      AttributeType: attribute === 'generation' ? 'N' : 'S',
    })),
    KeySchema: keySchema(key),
    ...(secondary.length > 0 && { GlobalSecondaryIndexes: secondary }),
  };
}

/**
 * A copy of the keys and indexes in the data stack, because synthesising the stack takes seconds.
 * `test/infra/resources.test.ts` compares the copy with the stack.
 */
const tables = [
  { name: 'Clients', key: ['clientId'] },
  { name: 'Users', key: ['userId'] },
  { name: 'Credentials', key: ['email'] },
  { name: 'Sessions', key: ['userId', 'sessionId'], indexes: { byClient: ['clientId', 'sessionId'] } },
  { name: 'Lockouts', key: ['pk', 'sk'] },
  {
    name: 'Webhooks',
    key: ['accountId', 'eventName'],
    indexes: { announcements: ['announcementShard', 'announcementAt'] },
  },
  {
    name: 'Deliveries',
    key: ['id', 'part'],
    indexes: {
      due: ['dueShard', 'dueAt'],
      byWebhook: ['listShard', 'listKey'],
      undelivered: ['stateShard', 'listKey'],
    },
  },
  { name: 'Keyring', key: ['kind', 'generation'] },
] as const satisfies readonly TableKeys[];

interface TableKeys {
  readonly name: string;
  /** The partition key and, if the table has one, the sort key. */
  readonly key: Key;
  readonly indexes?: Record<string, Key>;
}

type Key = readonly string[];

function keySchema(key: Key): KeySchemaElement[] {
  return key.map((attribute, position) => ({ AttributeName: attribute, KeyType: position === 0 ? 'HASH' : 'RANGE' }));
}
