import { randomUUID } from 'node:crypto';
import { CreateTableCommand, DescribeTableCommand, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startDynamoDb } from '@emissor/cloud/testing';
import { inject } from 'vitest';
import { makeDocumentClient, makeDynamo } from '../../../lambdas/platform/aws/dynamo.ts';
import { ItemProtocol } from '../../../lambdas/platform/aws/item-protocol.ts';
import { type TableName, tableDefinition } from '../../../tools/support/tables.ts';

/** A DynamoDB for one test file, on the engine that `EMISSOR_DYNAMODB` names. */
export type Database = Awaited<ReturnType<typeof startDatabase>>;

/** Starts a DynamoDB with these tables. The caller stops it in `afterAll`. */
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
    /** The client behind `dynamo`, to which a test can add middleware. */
    client,
    /** The address of the database for other clients. An endpoint has many databases, each with its own region. */
    ...{ endpoint: engine.endpoint, region },
    /** Every DynamoDB operation sent through `dynamo` so far, such as `BatchGetItemCommand`. */
    operations,
    repeatNext,
    stop: async () => {
      client.destroy();
      await engine.stop();
    },
  };

  /** Sends the next operation of that name twice and reports two attempts, as the SDK does after a lost response. */
  function repeatNext(operation: string, meanwhile?: () => Promise<unknown>): void {
    repeated = operation;
    between = meanwhile;
  }
}

/** Returns the metadata of a call that took two attempts. */
function twice({ $metadata }: { readonly $metadata?: object }) {
  return { ...$metadata, attempts: 2 };
}

/** Returns a signer. Both engines read only the region of a signature, and computing one takes a tenth of a run. */
export function withoutSignature(region: string) {
  const scope = `20261121/${region}/dynamodb/aws4_request`;
  return async function sign<Request extends { headers: Record<string, string> }>(request: Request): Promise<Request> {
    request.headers.authorization = `AWS4-HMAC-SHA256 Credential=local/${scope}, SignedHeaders=host, Signature=test`;
    request.headers['x-amz-date'] = '20261121T000000Z';
    return request;
  };
}

/** The engine that responds to a test file's DynamoDB requests. */
interface Engine {
  readonly endpoint: string;
  /** The settings with which a client reaches it. */
  readonly client: Pick<DynamoDBClientConfig, 'requestHandler' | 'protocol'>;
  stop(): Promise<void>;
}

/** Starts a DynamoDB in this process. Its client uses no connection, because HTTP takes a third of a run. */
async function startMemoryDynamoDb(): Promise<Engine> {
  const { endpoint, answer, stop } = await startDynamoDb();
  const handle = async ({ headers, body = '' }: { headers: Record<string, string>; body?: string | Uint8Array }) => {
    const { status, text } = await answer(headers, Buffer.from(body));
    return { response: { statusCode: status, headers: {}, body: Buffer.from(text) } };
  };
  const requestHandler = { metadata: { handlerProtocol: 'http/1.1' }, handle };
  return { endpoint, stop, client: { requestHandler, protocol: ItemProtocol } };
}

/** Returns DynamoDB Local if the run has one. Its tables exist until the run ends. */
function dynamoDbLocal(): Engine | undefined {
  const endpoint = inject('dynamoDbLocal');
  return endpoint ? { endpoint, client: { requestHandler: { httpAgent } }, stop: async () => {} } : undefined;
}

/** The server closes connections that are idle for 30 s, so clients close theirs first. */
const httpAgent = { keepAlive: true, timeout: 5_000 };

/** Creates a table and waits until it is active. */
async function createTable(client: DynamoDBDocumentClient, name: TableName): Promise<void> {
  await client.send(
    new CreateTableCommand({ TableName: name, BillingMode: 'PAY_PER_REQUEST', ...tableDefinition(name) }),
  );
  const state = async () => (await client.send(new DescribeTableCommand({ TableName: name }))).Table?.TableStatus;
  while ((await state()) !== 'ACTIVE') await new Promise(setImmediate);
}
