import { EventEmitter, once } from 'node:events';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { CreateTableCommand, DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type TableName, tableDefinition } from './tables.ts';

/** A DynamoDB of this test file alone, in memory, on a free port of 127.0.0.1. */
export interface Dynalite {
  readonly dynamo: DynamoDBDocumentClient;
  readonly endpoint: string;
  /** Every DynamoDB operation sent through `dynamo` so far, such as `BatchGetItemCommand`; empty it to count anew. */
  readonly operations: string[];
  /** Sends the next operation of that name twice, as the SDK does when the first answer gets lost. */
  repeatNext(operation: string): void;
  stop(): Promise<void>;
}

/** Starts a DynamoDB with the named tables; stop it in `afterAll`. */
export async function startDynalite(...names: TableName[]): Promise<Dynalite> {
  const server = dynalite({ createTableMs: 0 });
  server.keepAliveTimeout = 0; // a client must not find a kept connection closed under it
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new DynamoDBClient({
    endpoint,
    region: 'sa-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    signer: { sign },
    requestHandler: inProcess(server),
    maxAttempts: 1,
  });
  client.middlewareStack.remove('getUserAgentMiddleware'); // as the functions do
  await Promise.all(names.map(name => createTable(client, name)));
  await Promise.all(names.map(name => untilActive(client, name)));
  const operations: string[] = [];
  let repeated: string | undefined;
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
      return next(args);
    },
    { step: 'finalizeRequest', name: 'repeatOperation' },
  );
  return {
    dynamo: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
    endpoint,
    operations,
    repeatNext: operation => {
      repeated = operation;
    },
    stop: async () => {
      client.destroy();
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

// dynalite carries no types
const dynalite = createRequire(import.meta.url)('dynalite') as (options: { createTableMs: number }) => Server;

/** Dynalite wants a signature and looks at none: to compute one would be a tenth of all work. */
async function sign<Request extends { headers: Record<string, string> }>(request: Request): Promise<Request> {
  request.headers.authorization = 'AWS4-HMAC-SHA256 Credential=test, SignedHeaders=host, Signature=test';
  request.headers['x-amz-date'] = '20261121T000000Z';
  return request;
}

/**
 * Hands the client's requests to the server without a connection: HTTP would be a third of all work.
 * The server sees them as ever, and answers when it likes.
 */
function inProcess(server: Server) {
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    handle: ({ method, path, headers, body = '' }: Sent) =>
      new Promise<{ response: object }>(resolve => {
        const request = Object.assign(new EventEmitter(), { method, url: path, headers });
        const answered: Record<string, string> = {};
        const response = {
          statusCode: 200,
          setHeader: (name: string, value: unknown) => {
            answered[name.toLowerCase()] = String(value);
          },
          end: (text = '') => {
            resolve({ response: { statusCode: response.statusCode, headers: answered, body: Buffer.from(text) } });
          },
        };
        server.emit('request', request, response);
        setImmediate(() => {
          request.emit('data', typeof body === 'string' ? Buffer.from(body) : Buffer.copyBytesFrom(body));
          request.emit('end');
        });
      }),
  };
}

async function createTable(client: DynamoDBClient, name: TableName): Promise<void> {
  await client.send(
    new CreateTableCommand({ TableName: name, BillingMode: 'PAY_PER_REQUEST', ...tableDefinition(name) }),
  );
}

/** A table is there a moment after its creation was answered. */
async function untilActive(client: DynamoDBClient, name: TableName): Promise<void> {
  const state = async () => (await client.send(new DescribeTableCommand({ TableName: name }))).Table?.TableStatus;
  while ((await state()) !== 'ACTIVE') await new Promise(setImmediate);
}

/** What the SDK's client asks of its transport, as far as these tests go. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
}
