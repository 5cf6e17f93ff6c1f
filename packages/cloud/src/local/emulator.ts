import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import * as z from 'zod';
import { ServiceError as EngineError } from '../service-error.ts';
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

/** Performs an operation on its input. Throws a {@link ServiceError}, or one of an engine, for what the service refuses. */
export type Operation = (input: unknown) => object | Promise<object>;

/** A service that speaks AWS JSON. */
export interface AwsJsonService extends Emulator {
  /** Answers a request that comes without a connection. */
  answer(headers: IncomingHttpHeaders, body: Buffer): Promise<{ readonly status: number; readonly text: string }>;
}

/**
 * Starts a service that speaks AWS JSON on 127.0.0.1.
 *
 * @param invalid - the code of its error for input that an operation cannot parse
 * @param wantedPort - 0 takes any free one
 * @throws {StartError} when the port cannot be had
 */
export async function startAwsJsonService(
  service: ServiceRequest['service'],
  operations: Readonly<Record<string, Operation>>,
  interceptors: readonly Interceptor[],
  invalid: string,
  wantedPort = 0,
): Promise<AwsJsonService> {
  const type = `application/x-amz-json-${service === 'dynamodb' ? '1.0' : '1.1'}`;
  const server = createServer((request, response) => {
    readBody(request)
      .then(body => answer(request.headers, body))
      .then(
        ({ status, text }) => response.writeHead(status, { 'Content-Type': type }).end(text),
        () => response.destroy(),
      );
  });
  const { port, stop } = await listenOnLoopback(server, wantedPort);
  return { endpoint: `http://127.0.0.1:${port}`, answer, stop };

  async function answer(headers: IncomingHttpHeaders, body: Buffer) {
    try {
      return { status: 200, text: JSON.stringify(await perform(headers, body)) };
    } catch (error) {
      const { status, code, message, details } = serviceErrorOf(error, invalid);
      return { status, text: JSON.stringify({ __type: code, message, ...details }) };
    }
  }

  async function perform(headers: IncomingHttpHeaders, body: Buffer): Promise<object> {
    const name = String(headers['x-amz-target']).split('.').at(-1) ?? '';
    const input = parseJson(body);
    const caller = callerOf(headers.authorization);
    const error = intercept(interceptors, { service, operation: name, input: Object(input), caller });
    if (error) throw error;
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
    if (!operation) throw new ServiceError('UnknownOperationException', `The local ${service} does not know ${name}.`);
    return operation(input);
  }
}

/** Reads a body. Node's stream consumers would take twice the time of everything that follows. */
function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject); // cut off
  });
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new ServiceError('SerializationException', 'The body is not JSON.');
  }
}

function serviceErrorOf(error: unknown, invalid: string) {
  if (error instanceof ServiceError) return { ...error, message: error.message, details: {} };
  if (error instanceof EngineError) {
    const { name: code, message, $fault, ...details } = error;
    return { code, message, status: $fault === 'server' ? 500 : 400, details };
  }
  if (error instanceof z.ZodError) return { code: invalid, message: z.prettifyError(error), status: 400, details: {} };
  return { code: 'InternalFailure', message: messageOf(error), status: 500, details: {} };
}
