import type { TableDefinition } from '../../src/dynamodb/table.ts';

/** Two tables: one with a number in its key and three indexes, one with a hash key alone. */
export const definitions = [
  {
    TableName: 'Things',
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'place', AttributeType: 'N' },
      { AttributeName: 'owner', AttributeType: 'S' },
      { AttributeName: 'rank', AttributeType: 'N' },
      { AttributeName: 'title', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'id', KeyType: 'HASH' },
      { AttributeName: 'place', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      index('byRank', 'rank', { ProjectionType: 'KEYS_ONLY' }),
      index('byTitle', 'title', { ProjectionType: 'ALL' }),
      index('byId', 'id', { ProjectionType: 'INCLUDE', NonKeyAttributes: ['note'] }),
    ],
  },
  {
    TableName: 'Simple',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  },
] satisfies readonly TableDefinition[];

function index(
  IndexName: string,
  range: string,
  Projection: { ProjectionType: 'ALL' | 'KEYS_ONLY' | 'INCLUDE'; NonKeyAttributes?: string[] },
) {
  return {
    IndexName,
    KeySchema: [
      { AttributeName: 'owner', KeyType: 'HASH' as const },
      { AttributeName: range, KeyType: 'RANGE' as const },
    ],
    Projection,
  };
}
