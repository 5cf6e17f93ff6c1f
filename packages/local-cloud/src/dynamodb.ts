import { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type DynamoDBClient,
  ListTablesCommand,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import * as z from 'zod';
import { physicalName } from './assembly/identities.ts';
import { type LiveResource, readProperties } from './assembly/resources.ts';
import { callsOf, executeStatements } from './batch-statements.ts';
import { withUnits } from './capacity.ts';
import { callerOf, type Emulator, type Interceptor, intercept, type ServiceError } from './emulator.ts';
import { StartError } from './errors.ts';
import { listenOnLoopback } from './loopback-server.ts';
import type { RecordUsage } from './usage.ts';

/**
 * Starts DynamoDB (dynalite) on 127.0.0.1. TTL, point-in-time recovery and deletion protection do not exist there.
 *
 * @throws {StartError} when the port cannot be had.
 */
export async function startDynamoDb({
  interceptors = [],
  directory,
  port: wantedPort = 0,
  recordUsage,
}: {
  readonly interceptors?: readonly Interceptor[];
  /** The place where the tables are kept. @default - in memory */
  readonly directory?: string;
  /** @default 0 - any free one */
  readonly port?: number;
  /** Receives each operation with its request units. @default - none are counted */
  readonly recordUsage?: RecordUsage | undefined;
} = {}): Promise<Emulator> {
  const server = dynalite({ createTableMs: 0, ...(directory === undefined ? {} : { path: directory }) });
  const [handle] = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  if (handle) server.on('request', withInterceptors(handle, interceptors, recordUsage));
  const { port } = await listenOnLoopback(server, wantedPort);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve()); // calls back when the store is closed too
        server.closeAllConnections();
      }),
  };
}

/** Reads a table of the template. @throws {StartError} */
export function tableOf(resource: LiveResource): CreateTableCommandInput {
  const { TableName, ...shape } = readProperties(tableSchema, resource);
  return {
    TableName: TableName ?? physicalName(resource.stack, resource.logicalId),
    BillingMode: 'PAY_PER_REQUEST',
    ...shape,
  };
}

/**
 * Creates the tables that do not exist yet and waits until all are active.
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
        throw new StartError(`The kept table ${table.TableName} has other keys or indexes now`, 'data-unfit');
      }
    }),
  );
}

/** Passes on complete requests only: dynalite throws out of its event handlers when a request is cut off. */
function withInterceptors(
  handle: RequestListener,
  interceptors: readonly Interceptor[],
  recordUsage: RecordUsage | undefined,
): RequestListener {
  const metered = recordUsage && makeMetered(handle, recordUsage);
  return function listener(request, response) {
    readBody(request).then(
      body => {
        const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
        const error = intercept(interceptors, {
          service: 'dynamodb',
          operation,
          caller: callerOf(request.headers.authorization),
          get input() {
            return parseJson(body); // only the IAM enforcer looks at it, and the engine parses the body too
          },
        });
        if (error) return answer(response, error.status, errorBody(error));
        if (metered) return metered(operation, request, body, response).catch(() => response.destroy());
        if (operation !== 'BatchExecuteStatement') return replay(request, body, replayed => handle(replayed, response));
        return executeStatements(parseJson(body), callsOf(handle, request.headers)).then(({ status, body }) =>
          answer(response, status, JSON.stringify(body)),
        );
      },
      () => response.destroy(),
    );
  };
}

/** Makes a listener that counts units. It performs one operation after the other, since items are read before and after each. */
function makeMetered(handle: RequestListener, recordUsage: RecordUsage) {
  let last: Promise<unknown> = Promise.resolve();
  return async (operation: string, { headers }: IncomingMessage, text: Buffer, response: ServerResponse) => {
    const input = parseJson(text);
    const call = callsOf(handle, headers);
    const perform = () =>
      operation === 'BatchExecuteStatement' ? executeStatements(input, call) : call(operation, input);
    const performed = last.then(() => withUnits(operation, input, call, perform));
    last = performed.catch(() => undefined);
    const { status, body, units } = await performed;
    recordUsage({ kind: 'request', service: 'dynamodb', operation, caller: callerOf(headers.authorization), units });
    answer(response, status, JSON.stringify(body));
  };
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(body);
}

/** Node's stream consumers would take twice the time of everything that follows. */
function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.once('error', reject); // cut off
  });
}

/** A body that is no JSON has no parameters; the engine has its own answer to it. */
function parseJson(body: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(body.toString()) ?? {};
  } catch {
    return {};
  }
}

/** Hands a request over whose body has been read. The engine listens to events and uses nothing else of a stream. */
function replay({ method, url, headers }: IncomingMessage, body: Buffer, to: (request: IncomingMessage) => void): void {
  const replayed = Object.assign(new EventEmitter(), { method, url, headers });
  to(replayed as unknown as IncomingMessage);
  if (body.length > 0) replayed.emit('data', body);
  replayed.emit('end');
}

function errorBody({ code, message }: ServiceError): string {
  return JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${code}`, message });
}

const keySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));

/** TTL, recovery, protection and encryption have no effect: expiry is enforced in the functions. */
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
  LocalSecondaryIndexes: z.undefined('local secondary indexes are not supported locally').optional(),
});

/** Keys and indexes, in a form that can be compared. */
function designOf({ KeySchema, GlobalSecondaryIndexes }: Shape): string {
  const keys = (schema: CreateTableCommandInput['KeySchema']) =>
    (schema ?? []).map(({ AttributeName, KeyType }) => `${KeyType}:${AttributeName}`).sort();
  const indexes = (GlobalSecondaryIndexes ?? []).map(index => `${index.IndexName}(${keys(index.KeySchema)})`).sort();
  return JSON.stringify([keys(KeySchema), indexes]);
}

type Shape = CreateTableCommandInput | TableDescription;
