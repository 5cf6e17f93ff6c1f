import { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import dynalite from 'dynalite';
import { type Faults, noFaults } from '../faults.ts';
import { dynamoDbAccess } from '../iam/access-requests.ts';
import type { Gate } from '../iam/gate.ts';
import { listenOnLoopback, type ServiceStandIn } from '../loopback-server.ts';

/**
 * Starts the DynamoDB engine on a port of 127.0.0.1 (0: any free one), in memory or in a directory of its own. It knows
 * no TTL, no point-in-time recovery and no deletion protection: those are inert locally.
 *
 * @throws {LocalFault} when the port cannot be had.
 */
export async function startDynamoDb(
  gate: Gate,
  directory?: string,
  faults: Faults = noFaults,
  wantedPort = 0,
): Promise<ServiceStandIn> {
  const server = dynalite({ createTableMs: 0, ...(directory === undefined ? {} : { path: directory }) });
  const [handle] = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  if (handle) server.on('request', onlyCompleteAndAllowed(handle, gate, faults));
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

function onlyCompleteAndAllowed(handle: RequestListener, gate: Gate, faults: Faults): RequestListener {
  return (request, response) => {
    readBody(request).then(
      body => {
        const isThrottled = faults.strikesRequest('throttledReadsAndWrites', request.headers);
        const refusal = refusalOf(gate, request, body) ?? (isThrottled ? throttled : undefined);
        if (refusal === undefined) replay(request, body, replayed => handle(replayed, response));
        else response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' }).end(refusal);
      },
      () => response.destroy(),
    );
  };
}

/** Reads a body, for every request: streams of the runtime's own would cost twice what follows. */
function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.once('error', reject); // cut off
  });
}

/** What DynamoDB answers to a request that no policy allows. */
function refusalOf(gate: Gate, { headers }: IncomingMessage, body: Buffer): string | undefined {
  const message = gate.refusal(headers, () => dynamoDbAccess(String(headers['x-amz-target']), parseJson(body)));
  return message && JSON.stringify({ __type: 'com.amazon.coral.service#AccessDeniedException', message });
}

/** What DynamoDB answers to a request beyond a table's throughput. */
const throttled = JSON.stringify({
  __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
  message: 'The level of configured provisioned throughput for the table was exceeded.',
});

/** dynalite throws out of its event handlers when a request is cut off, so it is only given complete ones. */
function replay({ method, url, headers }: IncomingMessage, body: Buffer, to: (request: IncomingMessage) => void): void {
  const replayed = Object.assign(new EventEmitter(), { method, url, headers });
  to(replayed as unknown as IncomingMessage); // listens to events and takes nothing else of a stream
  if (body.length > 0) replayed.emit('data', body);
  replayed.emit('end');
}

/** A body that is no JSON names nothing; the engine has its own answer to it. */
function parseJson(body: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(body.toString());
  } catch {
    return {};
  }
}
