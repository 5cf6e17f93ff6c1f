import { randomUUID } from 'node:crypto';
import { CreateTableCommand, DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { inject } from 'vitest';
import { type Dynamo, makeDocumentClient, makeDynamo } from '../../../lambdas/platform/aws/dynamo.ts';
import { type TableName, tableDefinition } from '../../../tools/support/tables.ts';
import { type Engine, startMemoryDynamoDb } from './memory-dynamodb.ts';

/** A DynamoDB of this test file alone, in memory, on the engine that `EMISSOR_DYNAMODB` names. */
export interface Database {
  readonly dynamo: Dynamo;
  /** What `dynamo` calls with: middleware can be added to it. */
  readonly client: DynamoDBDocumentClient;
  /** The place where another client finds it: on 127.0.0.1. */
  readonly endpoint: string;
  /** The region that another client has to name, for it tells databases of one endpoint apart. */
  readonly region: string;
  /** Every DynamoDB operation sent through `dynamo` so far, such as `BatchGetItemCommand`; empty it to count anew. */
  readonly operations: string[];
  /**
   * Sends the next operation of that name twice, and tells of two attempts, as the SDK does when the first answer gets lost.
   *
   * @param meanwhile - what happens between both.
   */
  repeatNext(operation: string, meanwhile?: () => Promise<unknown>): void;
  /** Acts before each operation of a matching name, which is refused where that throws. Returns what ends it. */
  before(operation: string | RegExp, act: (input: object) => unknown): () => void;
  stop(): Promise<void>;
}

/** Starts a DynamoDB with the named tables; stop it in `afterAll`. */
export async function startDatabase(...names: TableName[]): Promise<Database> {
  const engine = dynamoDbLocal() ?? (await startMemoryDynamoDb());
  const region = `test-${randomUUID()}`;
  const client = makeDocumentClient({
    endpoint: engine.endpoint,
    region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    signer: { sign: withoutSignature(region) },
    ...(engine.requestHandler !== undefined && { requestHandler: engine.requestHandler }),
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
    { step: 'build', name: 'repeatOperation' }, // outside of the SDK's own retries, which count anew
  );
  return {
    dynamo: makeDynamo(client),
    client,
    endpoint: engine.endpoint,
    region,
    operations,
    repeatNext: (operation, meanwhile) => {
      repeated = operation;
      between = meanwhile;
    },
    before: (operation, act) => {
      const name = randomUUID();
      client.middlewareStack.add(
        (next, { commandName }) =>
          async args => {
            if (commandName?.match(operation)) await act(args.input);
            return next(args);
          },
        { step: 'initialize', name },
      );
      return () => void client.middlewareStack.remove(name);
    },
    stop: async () => {
      client.destroy();
      await engine.stop();
    },
  };
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

/**
 * DynamoDB Local, where the run has it. It keeps what it has until the run ends: to delete tables would only take time.
 */
function dynamoDbLocal(): Engine | undefined {
  const endpoint = inject('dynamoDbLocal');
  return endpoint ? { endpoint, requestHandler: { httpAgent }, stop: async () => {} } : undefined;
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
