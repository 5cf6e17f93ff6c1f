import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { startDynamoDb } from '@emissor/cloud/testing';

/** The engine that answers a test file's DynamoDB requests. */
export interface Engine {
  readonly endpoint: string;
  /** The transport of its requests. @default - over HTTP */
  readonly requestHandler?: NonNullable<DynamoDBClientConfig['requestHandler']>;
  stop(): Promise<void>;
}

/** Starts a DynamoDB in this process. Its own client's requests come without a connection: HTTP would be a third of all work. */
export async function startMemoryDynamoDb(): Promise<Engine> {
  const { endpoint, answer, stop } = await startDynamoDb();
  const handle = async ({ headers, body = '' }: Sent) => {
    const { status, text } = await answer(headers, Buffer.from(body));
    return { response: { statusCode: status, headers: {}, body: Buffer.from(text) } };
  };
  return { endpoint, stop, requestHandler: { metadata: { handlerProtocol: 'http/1.1' }, handle } };
}

/** The parts of a request that the SDK's client hands to its transport, as far as these tests go. */
interface Sent {
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
}
