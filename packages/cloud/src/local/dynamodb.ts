import type { IncomingMessage } from 'node:http';
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
import { callerOf, type Emulator, type Interceptor, intercept, type ServiceError } from './emulator.ts';
import {
  answerRequest,
  type EngineAnswer,
  type EngineListener,
  type EngineRequest,
  jsonHeaders,
  operationOf,
  parseJson,
} from './engine-requests.ts';
import { StartError } from './errors.ts';
import { listenOnLoopback } from './loopback-server.ts';

/** Emulates DynamoDB (dynalite). TTL, point-in-time recovery and deletion protection do not exist there. */
export interface DynamoDb extends Emulator {
  readonly answer: AnswerWhole;
}

/** Answers a whole request, without a connection. */
type AnswerWhole = (request: EngineRequest, body: Buffer) => Promise<EngineAnswer>;

/** Starts the engine on 127.0.0.1. @throws {StartError} when the port cannot be had */
export async function startDynamoDb({
  interceptors = [],
  directory,
  port: wantedPort = 0,
}: {
  readonly interceptors?: readonly Interceptor[];
  /** The place where the tables are kept. @default - in memory */
  readonly directory?: string | undefined;
  /** @default 0 - any free one */
  readonly port?: number | undefined;
} = {}): Promise<DynamoDb> {
  const server = dynalite({ createTableMs: 0, ...(directory === undefined ? {} : { path: directory }) });
  const [handle] = server.listeners('request') as [EngineListener];
  const perform: AnswerWhole = (request, body) => answerRequest(handle, request, body);
  const answer = intercepted(perform, interceptors);
  server.removeAllListeners('request');
  // Complete requests only: dynalite throws out of its event handlers when one is cut off.
  server.on('request', (request, response) => {
    readBody(request)
      .then(body => answer(request, body))
      .then(
        ({ status, headers, text }) => response.writeHead(status, headers).end(text),
        () => response.destroy(),
      );
  });
  const { port } = await listenOnLoopback(server, wantedPort);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    answer,
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

function intercepted(perform: AnswerWhole, interceptors: readonly Interceptor[]): AnswerWhole {
  return async function answerIntercepted(request, body) {
    const error = intercept(interceptors, {
      service: 'dynamodb',
      operation: operationOf(request),
      caller: callerOf(request.headers.authorization),
      get input() {
        return parseJson(body); // only the IAM enforcer looks at it, and the engine parses the body too
      },
    });
    return error ? refusal(error) : perform(request, body);
  };
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

function refusal({ status, code, message }: ServiceError): EngineAnswer {
  const text = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${code}`, message });
  return { status, headers: jsonHeaders, text };
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
