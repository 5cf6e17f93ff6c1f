import { randomUUID } from 'node:crypto';
import { CreateTableCommand, DescribeTableCommand, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startDynamoDb } from '@emissor/cloud/testing';
import { inject } from 'vitest';
import { makeDocumentClient, makeDynamo } from '../../../lambdas/platform/aws/dynamo.ts';
import { ItemProtocol } from '../../../lambdas/platform/aws/item-protocol.ts';
import { type TableName, tableDefinition } from '../../../tools/support/tables.ts';

/** A database for one test file. `EMISSOR_DYNAMODB` selects the engine. */
export type Database = Awaited<ReturnType<typeof startDatabase>>;

/** Starts a database with these tables. The caller must stop it in `afterAll`. */
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
  let operationToRepeat: string | undefined;
  let actBetween: (() => Promise<unknown>) | undefined;
  client.middlewareStack.add(
    (next, context) => args => {
      operations.push(context.commandName ?? 'unknown');
      return next(args);
    },
    { step: 'initialize', name: 'recordOperations' },
  );
  client.middlewareStack.add(
    (next, context) => async args => {
      if (context.commandName !== operationToRepeat) return next(args);
      operationToRepeat = undefined;
      await next(args);
      await actBetween?.();
      return next(args).then(
        result => ({ ...result, output: { ...result.output, $metadata: withTwoAttempts(result.output) } }),
        error => Promise.reject(Object.assign(error, { $metadata: withTwoAttempts(error) })),
      );
    },
    { step: 'build', name: 'repeatOperation' }, // before the SDK's retries, which reset the attempt count
  );
  return {
    dynamo: makeDynamo(client),
    /** The client behind `dynamo`, to which a test can add middleware. */
    client,
    /** The endpoint and the region for other clients. An endpoint has a separate database for each region. */
    ...{ endpoint: engine.endpoint, region },
    /** The names of all commands that the client has sent, such as `BatchGetItemCommand`. */
    operations,
    repeatNext,
    stop: async () => {
      client.destroy();
      await engine.stop();
    },
  };

  /** Repeats the next operation with that name after `act`, and reports two attempts, as the SDK does after a lost response. */
  function repeatNext(operation: string, act?: () => Promise<unknown>): void {
    operationToRepeat = operation;
    actBetween = act;
  }
}

function withTwoAttempts({ $metadata }: { readonly $metadata?: object }) {
  return { ...$metadata, attempts: 2 };
}

/** Returns a signer that computes no signatures, because signing takes a tenth of the run time. The engines read only the region. */
export function withoutSignature(region: string) {
  const scope = `20261121/${region}/dynamodb/aws4_request`;
  return async function sign<Request extends { headers: Record<string, string> }>(request: Request): Promise<Request> {
    request.headers.authorization = `AWS4-HMAC-SHA256 Credential=local/${scope}, SignedHeaders=host, Signature=test`;
    request.headers['x-amz-date'] = '20261121T000000Z';
    return request;
  };
}

interface Engine {
  readonly endpoint: string;
  /** The settings for clients. */
  readonly client: Pick<DynamoDBClientConfig, 'requestHandler' | 'protocol'>;
  stop(): Promise<void>;
}

/** Starts DynamoDB in this process. Its client calls it directly, because HTTP would take a third of the run time. */
async function startMemoryDynamoDb(): Promise<Engine> {
  const { endpoint, execute, stop } = await startDynamoDb();
  const handle = async ({ headers, body = '' }: { headers: Record<string, string>; body?: string | Uint8Array }) => {
    const { status, text } = await execute(headers, Buffer.from(body));
    return { response: { statusCode: status, headers: {}, body: Buffer.from(text) } };
  };
  const requestHandler = { metadata: { handlerProtocol: 'http/1.1' }, handle };
  return { endpoint, stop, client: { requestHandler, protocol: ItemProtocol } };
}

/** Returns DynamoDB Local if the run uses it. Its tables exist until the run ends. */
function dynamoDbLocal(): Engine | undefined {
  const endpoint = inject('dynamoDbLocal');
  return endpoint ? { endpoint, client: { requestHandler: { httpAgent } }, stop: async () => {} } : undefined;
}

/** Closes idle connections after 5 s, because the server closes them after 30 s. */
const httpAgent = { keepAlive: true, timeout: 5_000 };

/** Creates a table and waits until it is active. */
async function createTable(client: DynamoDBDocumentClient, name: TableName): Promise<void> {
  await client.send(
    new CreateTableCommand({ TableName: name, BillingMode: 'PAY_PER_REQUEST', ...tableDefinition(name) }),
  );
  const state = async () => (await client.send(new DescribeTableCommand({ TableName: name }))).Table?.TableStatus;
  while ((await state()) !== 'ACTIVE') await new Promise(setImmediate);
}
