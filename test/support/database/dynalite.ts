import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { answerRequest } from '@emissor/local-cloud/engine-requests';
import dynalite from 'dynalite';

/** The engine that answers a test file's DynamoDB requests. */
export interface Engine {
  readonly endpoint: string;
  /** The transport of its requests. @default - over HTTP */
  readonly requestHandler?: NonNullable<DynamoDBClientConfig['requestHandler']>;
  stop(): Promise<void>;
}

/** Starts a dynalite in this process, on a free port of 127.0.0.1. */
export async function startDynalite(): Promise<Engine> {
  const server = dynalite({ createTableMs: 0 });
  server.keepAliveTimeout = 0; // a client must not find a kept connection closed under it
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requestHandler: inProcess(server),
    stop: async () => {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

/**
 * Hands the client's requests to the server without a connection: HTTP would be a third of all work.
 * The server sees them as ever, and answers when it likes.
 */
function inProcess(server: Server) {
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    handle: async ({ method, path, headers, body = '' }: Sent) => {
      await setImmediate();
      const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.copyBytesFrom(body);
      const answer = await answerRequest(
        (...sent) => server.emit('request', ...sent),
        { method, url: path, headers },
        bytes,
      );
      const answered = Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
      return {
        response: {
          statusCode: answer.status,
          headers: Object.fromEntries(answered),
          body: Buffer.from(answer.text),
        },
      };
    },
  };
}

/** The parts of a request that the SDK's client hands to its transport, as far as these tests go. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
}
