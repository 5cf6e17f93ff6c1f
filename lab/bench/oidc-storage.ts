import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';

/** Records by name. */
export interface Store {
  put(name: string, record: Record<string, unknown>): Promise<void>;
  get(name: string): Promise<Record<string, unknown> | undefined>;
  /** Sets one field. */
  set(name: string, field: string, value: unknown): Promise<void>;
  remove(name: string): Promise<void>;
}

/** Keeps records in this process. */
export function makeMapStore(): Store {
  const records = new Map<string, Record<string, unknown>>();
  return {
    put: async (name, record) => void records.set(name, record),
    get: async name => records.get(name),
    set: async (name, field, value) => {
      const record = records.get(name);
      if (record) record[field] = value;
    },
    remove: async name => void records.delete(name),
  };
}

/** Keeps records in DynamoDB, through the same SDK as ours and with consistent reads as ours. */
export async function makeDynamoStore(): Promise<Store> {
  const client = new DynamoDBClient({ maxAttempts: 3 });
  const TableName = 'OidcProvider';
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    }),
  );
  const dynamo = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return {
    put: async (pk, record) => void (await dynamo.send(new PutCommand({ TableName, Item: { pk, record } }))),
    get: async pk => {
      const { Item } = await dynamo.send(new GetCommand({ TableName, Key: { pk }, ConsistentRead: true }));
      return Item?.record;
    },
    set: async (pk, field, value) =>
      void (await dynamo.send(
        new UpdateCommand({
          TableName,
          Key: { pk },
          UpdateExpression: 'SET #record.#field = :value',
          ExpressionAttributeNames: { '#record': 'record', '#field': field },
          ExpressionAttributeValues: { ':value': value },
        }),
      )),
    remove: async pk => void (await dynamo.send(new DeleteCommand({ TableName, Key: { pk } }))),
  };
}

/** The shape in which oidc-provider wants its storage: one instance per kind of record. */
export const adapterOver = (store: Store) =>
  class {
    readonly #kind: string;
    constructor(kind: string) {
      this.#kind = kind;
    }
    #name(id: string): string {
      return `${this.#kind} ${id}`;
    }
    upsert(id: string, payload: Record<string, unknown>): Promise<void> {
      return store.put(this.#name(id), payload);
    }
    find(id: string): Promise<Record<string, unknown> | undefined> {
      return store.get(this.#name(id));
    }
    consume(id: string): Promise<void> {
      return store.set(this.#name(id), 'consumed', Math.floor(Date.now() / 1_000));
    }
    destroy(id: string): Promise<void> {
      return store.remove(this.#name(id));
    }
  };
