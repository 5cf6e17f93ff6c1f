import { setImmediate } from 'node:timers/promises';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { startDynamoDb } from '@emissor/cloud/testing';

/** The engine that answers a test file's DynamoDB requests. */
export interface Engine {
  readonly endpoint: string;
  /** The transport of its requests. @default - over HTTP */
  readonly requestHandler?: NonNullable<DynamoDBClientConfig['requestHandler']>;
  stop(): Promise<void>;
}

/**
 * Starts a dynalite in this process, on a free port of 127.0.0.1. The client's requests are handed to it without a connection: HTTP
 * would be a third of all work.
 */
export async function startDynalite(): Promise<Engine> {
  const { endpoint, answer, stop } = await startDynamoDb();
  const handle = async ({ method, path, headers, body = '' }: Sent) => {
    await setImmediate();
    const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.copyBytesFrom(body);
    const answered = await answer({ method, url: path, headers }, bytes);
    const lowerCase = Object.entries(answered.headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
    return {
      response: {
        statusCode: answered.status,
        headers: Object.fromEntries(lowerCase),
        body: Buffer.from(answered.text),
      },
    };
  };
  return { endpoint, stop, requestHandler: { metadata: { handlerProtocol: 'http/1.1' }, handle } };
}

/** The parts of a request that the SDK's client hands to its transport, as far as these tests go. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
}
