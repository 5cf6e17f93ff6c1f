import { randomUUID } from 'node:crypto';
import { CreateTableCommand, DescribeTableCommand, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startDynamoDb } from '@emissor/cloud/testing';
import { inject } from 'vitest';
import { makeDocumentClient, makeDynamo } from '../../../lambdas/platform/aws/dynamo.ts';
import { ItemProtocol } from '../../../lambdas/platform/aws/item-protocol.ts';
import { type TableName, tableDefinition } from '../../../tools/support/tables.ts';

/** A DynamoDB of this test file alone, in memory, on the engine that `EMISSOR_DYNAMODB` names. */
export type Database = Awaited<ReturnType<typeof startDatabase>>;

/** Starts a DynamoDB with the named tables; stop it in `afterAll`. */
export async function startDatabase(...names: TableName[]) {
  const engine = dynamoDbLocal() ?? (await startMemoryDynamoDb());
  const region = `test-${randomUUID()}`;
  const client = makeDocumentClient({
    endpoint: engine.endpoint,
    region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    signer: { sign: withoutSignature(region) },
    ...engine.client,
    maxAttempts: 1,
  });
  await Promise.all(names.map(name => createTable(client, name)));
  await Promise.all(names.map(name => untilActive(client, name)));
  const operations: string[] = [];
  let repeated: string | undefined;
  let between: (() => Promise<unknown>) | undefined;
  client.middlewareStack.add(
    (next, context) => args => {
      operations.push(context.commandName ?? 'unknown');
      return next(args);
    },
    { step: 'initialize', name: 'recordOperations' },
  );
  client.middlewareStack.add(
    (next, context) => async args => {
      if (context.commandName !== repeated) return next(args);
      repeated = undefined;
      await next(args);
      await between?.();
      return next(args).then(
        result => ({ ...result, output: { ...result.output, $metadata: twice(result.output) } }),
        error => Promise.reject(Object.assign(error, { $metadata: twice(error) })),
      );
    },
    { step: 'build', name: 'repeatOperation' }, // outside of the SDK's own retries, which restart the count
  );
  return {
    dynamo: makeDynamo(client),
    /** `dynamo` calls with it: middleware can be added to it. */
    client,
    /** Where another client finds the database: one endpoint has many, each in a region of its own. */
    ...{ endpoint: engine.endpoint, region },
    /** Every DynamoDB operation sent through `dynamo` so far, such as `BatchGetItemCommand`. */
    operations,
    repeatNext,
    stop: async () => {
      client.destroy();
      await engine.stop();
    },
  };

  /** Sends the next operation of that name twice, and reports two attempts, as the SDK does when the first answer gets lost. */
  function repeatNext(operation: string, meanwhile?: () => Promise<unknown>): void {
    repeated = operation;
    between = meanwhile;
  }
}

/** Returns the metadata of a call that took two attempts. */
function twice({ $metadata }: { readonly $metadata?: object }) {
  return { ...$metadata, attempts: 2 };
}

/** Both engines want a signature, take the region from it, and check nothing: to compute one would be a tenth of all work. */
export function withoutSignature(region: string) {
  const scope = `20261121/${region}/dynamodb/aws4_request`;
  return async function sign<Request extends { headers: Record<string, string> }>(request: Request): Promise<Request> {
    request.headers.authorization = `AWS4-HMAC-SHA256 Credential=local/${scope}, SignedHeaders=host, Signature=test`;
    request.headers['x-amz-date'] = '20261121T000000Z';
    return request;
  };
}

/** The engine that answers a test file's DynamoDB requests. */
interface Engine {
  readonly endpoint: string;
  /** How a client reaches it. */
  readonly client: Pick<DynamoDBClientConfig, 'requestHandler' | 'protocol'>;
  stop(): Promise<void>;
}

/** Starts a DynamoDB in this process. Its own client's requests come without a connection: HTTP would be a third of all work. */
async function startMemoryDynamoDb(): Promise<Engine> {
  const { endpoint, answer, stop } = await startDynamoDb();
  const handle = async ({ headers, body = '' }: { headers: Record<string, string>; body?: string | Uint8Array }) => {
    const { status, text } = await answer(headers, Buffer.from(body));
    return { response: { statusCode: status, headers: {}, body: Buffer.from(text) } };
  };
  const requestHandler = { metadata: { handlerProtocol: 'http/1.1' }, handle };
  return { endpoint, stop, client: { requestHandler, protocol: ItemProtocol } };
}

/** Returns DynamoDB Local if the run has it. It keeps its tables until the run ends. */
function dynamoDbLocal(): Engine | undefined {
  const endpoint = inject('dynamoDbLocal');
  return endpoint ? { endpoint, client: { requestHandler: { httpAgent } }, stop: async () => {} } : undefined;
}

/** Its server closes a connection that is idle for 30 s: a client must not send into one at that moment. */
const httpAgent = { keepAlive: true, timeout: 5_000 };

async function createTable(client: DynamoDBDocumentClient, name: TableName): Promise<void> {
  await client.send(
    new CreateTableCommand({ TableName: name, BillingMode: 'PAY_PER_REQUEST', ...tableDefinition(name) }),
  );
}

/** A table is there a moment after its creation was answered. */
async function untilActive(client: DynamoDBDocumentClient, name: TableName): Promise<void> {
  const state = async () => (await client.send(new DescribeTableCommand({ TableName: name }))).Table?.TableStatus;
  while ((await state()) !== 'ACTIVE') await new Promise(setImmediate);
}
