import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { type Faults, noFaults } from '../faults.ts';
import { kmsAccess } from '../iam/access-requests.ts';
import type { Gate } from '../iam/gate.ts';
import { listenOnLoopback, type ServiceStandIn } from '../loopback-server.ts';
import { KmsError, keyIn, makeKmsOperations } from './operations.ts';
import { makeWrapping } from './wrapping.ts';

/** The KMS stand-in. */
export interface KeyService extends ServiceStandIn {
  /** Makes a key of the template known. */
  ensureKey(keyId: string): void;
}

/** Starts the KMS stand-in on a free port of 127.0.0.1; it speaks AWS JSON 1.1, as the SDK's client does. */
export async function startKms(master: Uint8Array, gate: Gate, faults: Faults = noFaults): Promise<KeyService> {
  const keys = new Set<string>();
  const operations = makeKmsOperations({ wrapping: makeWrapping(master), hasKey: keyId => keys.has(keyId) });

  const perform = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
    const target = String(request.headers['x-amz-target']);
    const input = await json(request).catch(() => {
      throw new KmsError('SerializationException', 'The body is not JSON.');
    });
    const name = target.replace(/^TrentService\./, '');
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
    if (!operation) throw new KmsError('UnknownOperationException', `The local cloud does not know ${target}.`);
    const fields = Object(input) as Record<string, unknown>;
    const refusal = gate.refusal(request.headers, () => kmsAccess(name, fields, keyIn(fields)));
    if (refusal !== undefined) throw new KmsError('AccessDeniedException', refusal);
    if (faults.strikesRequest('throttledKeyUses', request.headers))
      throw new KmsError('ThrottlingException', 'The rate at which KMS may be called is exceeded.');
    if (faults.strikesRequest('failedKeyUses', request.headers)) throw internalFault;
    return operation(input);
  };

  const respond = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  };

  const server = createServer((request, response) => {
    perform(request).then(
      output => respond(response, 200, output),
      error => {
        const known = error instanceof KmsError ? error : internalFault;
        respond(response, known === internalFault ? 500 : 400, { __type: known.name, message: known.message });
      },
    );
  });
  const { port, stop } = await listenOnLoopback(server);
  return { endpoint: `http://127.0.0.1:${port}`, stop, ensureKey: keyId => void keys.add(keyId) };
}

/** What KMS answers when the fault is its own. */
const internalFault = new KmsError('KMSInternalException', 'See the terminal.');
