import type { AttributeDefinition, GlobalSecondaryIndex, KeySchemaElement } from '@aws-sdk/client-dynamodb';

/** The name of a table, in tests. */
export type TableName = keyof typeof keys;

/** A table's keys and indexes, as `CreateTable` and CloudFormation take them. */
export interface TableDefinition {
  readonly AttributeDefinitions: AttributeDefinition[];
  readonly KeySchema: KeySchemaElement[];
  readonly GlobalSecondaryIndexes?: GlobalSecondaryIndex[];
}

/** Returns the names of all tables. */
export function tableNames(): readonly TableName[] {
  return Object.keys(keys) as TableName[];
}

/** Returns the definition of a table. */
export function tableDefinition(name: TableName): TableDefinition {
  const { key, indexes = {} }: TableKeys = keys[name];
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
 * The keys and indexes of the data stack, which takes seconds to synthesise. `test/infra/stateful-resources.test.ts` compares
 * both.
 */
const keys = {
  Clients: { key: ['clientId'] },
  Users: { key: ['userId'] },
  Credentials: { key: ['email'] },
  Sessions: { key: ['userId', 'sessionId'], indexes: { byClient: ['clientId', 'sessionId'] } },
  Lockouts: { key: ['pk'] },
  Webhooks: {
    key: ['accountId', 'eventName'],
    indexes: { announcements: ['announcementShard', 'announcementAt'] },
  },
  Deliveries: {
    key: ['id', 'part'],
    indexes: {
      due: ['dueShard', 'dueAt'],
      byWebhook: ['listShard', 'listKey'],
      undelivered: ['stateShard', 'listKey'],
    },
  },
  Keyring: { key: ['kind', 'generation'] },
} as const satisfies Record<string, TableKeys>;

interface TableKeys {
  /** Partition key, then sort key if there is one. */
  readonly key: Key;
  readonly indexes?: Record<string, Key>;
}

type Key = readonly string[];

function keySchema(key: Key): KeySchemaElement[] {
  return key.map((attribute, position) => ({ AttributeName: attribute, KeyType: position === 0 ? 'HASH' : 'RANGE' }));
}
