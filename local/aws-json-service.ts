import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { callerOf, type Interceptor, intercept, ServiceError, type ServiceRequest } from './interceptors.ts';
import { type Emulator, listenOnLoopback } from './loopback-server.ts';

/** What an operation makes of its input. Throws a `ServiceError` for what the service refuses. */
export type Operation = (input: unknown) => object | Promise<object>;

/**
 * Starts a service that speaks AWS JSON 1.1 on a free port of 127.0.0.1.
 *
 * @param internalError - what the service answers when an operation throws anything but a `ServiceError`
 */
export async function startAwsJsonService(
  service: ServiceRequest['service'],
  operations: Readonly<Record<string, Operation>>,
  interceptors: readonly Interceptor[],
  internalError: (error: unknown) => ServiceError,
): Promise<Emulator> {
  const perform = async (request: IncomingMessage): Promise<object> => {
    const name = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const input = await json(request).catch(() => {
      throw new ServiceError('SerializationException', 'The body is not JSON.');
    });
    const fields = Object(input) as Record<string, unknown>;
    const caller = callerOf(request.headers.authorization);
    const error = intercept(interceptors, { service, operation: name, input: fields, caller });
    if (error) throw error;
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
    if (!operation) throw new ServiceError('UnknownOperationException', `The local ${service} does not know ${name}.`);
    return operation(input);
  };

  const server = createServer((request, response) => {
    perform(request).then(
      output => respond(response, 200, output),
      error => {
        const { status, code, message } = error instanceof ServiceError ? error : internalError(error);
        respond(response, status, { __type: code, message });
      },
    );
  });
  const { port, stop } = await listenOnLoopback(server);
  return { endpoint: `http://127.0.0.1:${port}`, stop };
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
}
