import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import * as z from 'zod';
import { messageOf } from './errors.ts';
import { listenOnLoopback } from './loopback-server.ts';

/** An emulator of an AWS service, with the endpoint that SDK clients are given. */
export interface Emulator {
  /** `http://127.0.0.1:port` */
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** A request to an emulated service, as interceptors see it. */
export interface ServiceRequest {
  readonly service: 'dynamodb' | 'sqs' | 'sns' | 'kms' | 'logs';
  /** `GetItem` */
  readonly operation: string;
  /** The operation's parameters; empty for a body that cannot be parsed. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The access key id that signed the request: a function's name, or `local` for the run itself and operators' programs. */
  readonly caller: string;
}

/** An error that a service answers with. Each emulator writes it in the form of its protocol. */
export class ServiceError extends Error {
  readonly code: string;
  readonly status: number;

  /** @param code - as the service names it: `AccessDeniedException` */
  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** Sees each request before the service does. An error that it returns is the answer; the service never sees the request. */
export type Interceptor = (request: ServiceRequest) => ServiceError | undefined;

/** Returns the answer of the first interceptor that has one. */
export function intercept(interceptors: readonly Interceptor[], request: ServiceRequest): ServiceError | undefined {
  for (const interceptor of interceptors) {
    const error = interceptor(request);
    if (error) return error;
  }
  return undefined;
}

/** Returns the access key id in an `Authorization` header (AWS Signature Version 4); empty when there is none. */
export function callerOf(authorization: string | undefined): string {
  return /Credential=([^/]+)\//.exec(authorization ?? '')?.[1] ?? '';
}

/** Performs an operation on its input. Throws a {@link ServiceError} for what the service refuses. */
export type Operation = (input: unknown) => object | Promise<object>;

/**
 * Starts a service that speaks AWS JSON 1.1 on a free port of 127.0.0.1.
 *
 * @param invalid - the code of its error for input that an operation cannot parse
 */
export async function startAwsJsonService(
  service: ServiceRequest['service'],
  operations: Readonly<Record<string, Operation>>,
  interceptors: readonly Interceptor[],
  invalid: string,
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
        const { status, code, message } = serviceErrorOf(error, invalid);
        respond(response, status, { __type: code, message });
      },
    );
  });
  const { port, stop } = await listenOnLoopback(server);
  return { endpoint: `http://127.0.0.1:${port}`, stop };
}

function serviceErrorOf(error: unknown, invalid: string): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof z.ZodError) return new ServiceError(invalid, z.prettifyError(error));
  return new ServiceError('InternalFailure', messageOf(error), 500);
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
}
