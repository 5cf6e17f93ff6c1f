import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import * as z from 'zod';
import { ServiceError } from '../service-error.ts';
import { messageOf } from './errors.ts';
import { listenOnLoopback } from './loopback-server.ts';

/** An emulator of an AWS service. */
export interface Emulator {
  /** The endpoint URL for SDK clients, `http://127.0.0.1:port`. */
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** A request to an emulated service. */
export interface ServiceRequest {
  readonly service: 'dynamodb' | 'sqs' | 'sns' | 'kms' | 'logs';
  /** The name of the operation, such as `GetItem`. */
  readonly operation: string;
  /** The parameters of the operation. They are empty if the body is not a JSON object. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The access key id of the signature. It is the name of a function, or `local` for the run itself and operators' programs. */
  readonly caller: string;
}

/** Receives each request before the service. If it returns an error, the emulator sends that error and does not execute the request. */
export type Interceptor = (request: ServiceRequest) => ServiceError | undefined;

/** Passes a request to interceptors. @throws {ServiceError} the error of the first interceptor that rejects it */
export function intercept(interceptors: readonly Interceptor[], request: ServiceRequest): void {
  for (const interceptor of interceptors) {
    const error = interceptor(request);
    if (error) throw error;
  }
}

/** Returns the access key id in an `Authorization` header (AWS Signature Version 4), or an empty string. */
export function callerOf(authorization: string | undefined): string {
  return /Credential=([^/]+)\//.exec(authorization ?? '')?.[1] ?? '';
}

/** Performs an operation. @throws {ServiceError} if the service rejects it */
export type Operation = (input: unknown, requester: Requester) => object | Promise<object>;

/** The client that sent a request. */
interface Requester {
  /** See {@link ServiceRequest}. */
  readonly caller: string;
  /** Aborts if the client disconnects before it receives the response. */
  readonly signal: AbortSignal;
}

/** An emulator that uses the AWS JSON protocol. */
export interface AwsJsonService extends Emulator {
  /** Executes a request from a caller in the same process. */
  execute(headers: IncomingHttpHeaders, body: Buffer): Promise<{ readonly status: number; readonly text: string }>;
}

/**
 * Starts an emulator that uses the AWS JSON protocol, on 127.0.0.1.
 *
 * @param invalidCode - see {@link errorResponse}
 * @throws {StartError} if the port is not available
 */
export async function startAwsJsonService(
  service: ServiceRequest['service'],
  operations: Readonly<Record<string, Operation>>,
  interceptors: readonly Interceptor[],
  invalidCode: string,
  { port: requestedPort = 0, hint = '' }: AwsJsonOptions = {},
): Promise<AwsJsonService> {
  const type = `application/x-amz-json-${service === 'dynamodb' || service === 'sqs' ? '1.0' : '1.1'}`;
  const server = createServer((request, response) => {
    if (request.headers['x-amz-target'] === undefined) {
      const message = `The local ${service} supports only the AWS JSON protocol. ${hint}`;
      sendXml(response, 400, xmlError({ code: 'InvalidAction', message, status: 400 }));
      return;
    }
    const disconnection = new AbortController();
    response.once('close', () => response.writableFinished || disconnection.abort());
    readBody(request)
      .then(body => execute(request.headers, body, disconnection.signal))
      .then(
        ({ status, text }) => response.writeHead(status, { 'Content-Type': type }).end(text),
        () => response.destroy(),
      );
  });
  const { port, stop } = await listenOnLoopback(server, requestedPort);
  return { endpoint: `http://127.0.0.1:${port}`, execute, stop };

  async function execute(headers: IncomingHttpHeaders, body: Buffer, signal = neverAborts) {
    try {
      return { status: 200, text: JSON.stringify(await perform(headers, body, signal)) };
    } catch (error) {
      const { status, code, message, details } = errorResponse(error, invalidCode);
      return { status, text: JSON.stringify({ __type: code, message, ...details }) };
    }
  }

  async function perform(headers: IncomingHttpHeaders, body: Buffer, signal: AbortSignal): Promise<object> {
    const name = String(headers['x-amz-target']).split('.').at(-1) ?? '';
    const input = parseJson(body);
    const caller = callerOf(headers.authorization);
    intercept(interceptors, { service, operation: name, input: Object(input), caller });
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
    if (!operation) throw new ServiceError('UnknownOperationException', `This ${service} does not support ${name}.`);
    return operation(input, { caller, signal });
  }
}

interface AwsJsonOptions {
  /** The port. @default 0 - any free port */
  readonly port?: number | undefined;
  /** A sentence for clients that use another protocol. @default - no sentence */
  readonly hint?: string;
}

/** A signal that never aborts. Callers in the same process do not disconnect. */
const neverAborts = new AbortController().signal;

/** Reads a body. It does not use Node's stream consumers, which would double the duration of a request. */
function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject); // the connection ended before the body
  });
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new ServiceError('SerializationException', 'The body is not JSON.');
  }
}

/** Sends a response in the AWS Query protocol. */
export function sendXml(response: ServerResponse, status: number, xml: string): void {
  response.writeHead(status, { 'Content-Type': 'text/xml' }).end(xml);
}

/** Returns an error response in the AWS Query protocol. */
export function xmlError({ status, code, message }: ErrorResponse): string {
  const type = status < 500 ? 'Sender' : 'Receiver';
  return `<ErrorResponse><Error><Type>${type}</Type><Code>${code}</Code><Message>${message.replaceAll(/[<&]/g, '')}</Message></Error></ErrorResponse>`;
}

/** An error response from a service. */
interface ErrorResponse {
  readonly code: string;
  readonly message: string;
  readonly status: number;
}

/** Converts an error into the error response of a service. `invalidCode` is the code for input that an operation cannot parse. */
export function errorResponse(error: unknown, invalidCode: string): ErrorResponse & { readonly details?: object } {
  if (error instanceof ServiceError) {
    const { name: code, message, $fault, ...details } = error;
    return { code, message, status: $fault === 'server' ? 500 : 400, details };
  }
  if (error instanceof z.ZodError) return { code: invalidCode, message: z.prettifyError(error), status: 400 };
  return { code: 'InternalFailure', message: messageOf(error), status: 500 };
}
