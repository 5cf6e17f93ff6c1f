import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { type Body, type CallOperation, executeStatements } from './batch-statements.ts';

/** The listener of the DynamoDB engine (dynalite). It reads no more of a request than this, and listens to its events. */
export type EngineListener = (request: EventEmitter & EngineRequest, response: EngineResponse) => void;

export interface EngineRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** The engine's answer to a request. */
export interface EngineAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly text: string;
}

/** Answers a whole request by the engine, without a connection. Statements are run here: the engine knows none. */
export async function answerRequest(
  listener: EngineListener,
  request: EngineRequest,
  body: Buffer,
): Promise<EngineAnswer> {
  if (operationOf(request) !== 'BatchExecuteStatement') return handOver(listener, request, body);
  const answer = await executeStatements(parseJson(body), makeCallOperation(listener, request.headers));
  return { status: answer.status, headers: jsonHeaders, text: JSON.stringify(answer.body) };
}

/** Makes the caller of the engine's operations. `signed` has the headers of a signed request: the engine asks for some. */
function makeCallOperation(listener: EngineListener, signed: IncomingHttpHeaders): CallOperation {
  return async function callOperation(operation, input) {
    const headers = { ...signed, 'x-amz-target': `DynamoDB_20120810.${operation}` };
    const request = { method: 'POST', url: '/', headers };
    const { status, text } = await handOver(listener, request, Buffer.from(JSON.stringify(input)));
    return { status, body: JSON.parse(text || '{}') };
  };
}

/** Returns the operation that a request asks for; empty if none. */
export function operationOf({ headers }: EngineRequest): string {
  return String(headers['x-amz-target']).split('.').at(-1) ?? '';
}

/** Returns a parsed body. One that is no JSON has no parameters; the engine has its own answer to it. */
export function parseJson(body: Buffer): Body {
  try {
    return JSON.parse(body.toString()) ?? {};
  } catch {
    return {};
  }
}

/** The headers of an answer that is not the engine's. */
export const jsonHeaders = { 'Content-Type': 'application/x-amz-json-1.0' };

/** The parts of a response that the engine writes. */
interface EngineResponse {
  statusCode: number;
  setHeader(name: string, value: string | number): void;
  end(text?: string): void;
}

function handOver(
  listener: EngineListener,
  { method, url, headers }: EngineRequest,
  body: Buffer,
): Promise<EngineAnswer> {
  return new Promise(resolve => {
    const request = Object.assign(new EventEmitter(), { method, url, headers });
    const answered: OutgoingHttpHeaders = {};
    const response: EngineResponse = {
      statusCode: 200,
      setHeader: (name, value) => {
        answered[name] = value;
      },
      end: (text = '') => resolve({ status: response.statusCode, headers: answered, text }),
    };
    listener(request, response);
    if (body.length > 0) request.emit('data', body);
    request.emit('end');
  });
}
