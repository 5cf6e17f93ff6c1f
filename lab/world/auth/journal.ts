import { type TokenResponse, tokenResponse } from '../../../lambdas/auth/responses.ts';
import { clockError } from '../times.ts';
import type { Change } from '../watched-tables.ts';

export type Endpoint = 'token' | 'revoke' | 'introspect';

export type Form = Readonly<Record<string, string>>;

/** The name of a hash in a request's call list. */
export const hashName = 'Argon2';

/** A DynamoDB call or a hash that belongs to a request. */
export interface RequestCall {
  /** The operation and its table, for example `Update Sessions`. */
  readonly name: string;
  /** The outcome of the call as the product sees it, or `undefined` if the process crashed first. */
  readonly outcome?: 'succeeded' | 'condition_failed' | 'failed';
  /** The number of attempts by the SDK. */
  readonly attempts?: number;
}

export interface EndpointResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface TokenRequest {
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly form: Form;
  readonly ip: string;
  /** The time at which the gateway received the request. */
  readonly sentAt: number;
  /** The time at which the function responded or its process crashed. */
  endedAt?: number;
  /** The response, or `undefined` if the process crashed. */
  response?: EndpointResponse;
  readonly calls: RequestCall[];
}

export interface CommandRecord {
  readonly name: string;
  /** The id of the affected user or client. */
  readonly subjectId: string;
  readonly sentAt: number;
  /** The time at which the command ended, or undefined while it is in flight. */
  endedAt?: number;
}

/** The requests of a world, and the calls that they caused. */
export type Journal = ReturnType<typeof makeJournal>;

export function makeJournal(now: () => number) {
  const requests = new Map<string, TokenRequest>();
  const requestByCommand = new WeakMap<object, TokenRequest>();
  const commands: CommandRecord[] = [];
  return { commands, addRequest, find, addCall, all, requestOf };

  /** Records a request that has reached the gateway. */
  function addRequest(endpoint: Endpoint, form: Form, ip: string): TokenRequest {
    const request = { id: `request-${requests.size + 1}`, endpoint, form, ip, sentAt: now(), calls: [] };
    requests.set(request.id, request);
    return request;
  }

  function find(id: string): TokenRequest {
    const request = requests.get(id);
    if (!request) throw new RangeError(`Request ${id} does not exist.`);
    return request;
  }

  function addCall(request: TokenRequest, command: { readonly input: object }): RequestCall {
    const call = { name: nameOf(command) };
    request.calls.push(call);
    requestByCommand.set(command, request);
    return call;
  }

  function all(): readonly TokenRequest[] {
    return [...requests.values()];
  }

  /** Returns the request that caused a write, or `undefined` for operators' writes. */
  function requestOf({ command }: Change): TokenRequest | undefined {
    return requestByCommand.get(command);
  }
}

/** Returns the earliest and latest times that a process's clock may show during a request. */
export function timesOf({ sentAt, endedAt = sentAt }: TokenRequest): readonly [number, number] {
  return [sentAt - clockError, endedAt + clockError];
}

/** Returns the tokens in the response to a request, or `undefined` if the request was not granted. */
export function tokensOf({ endpoint, response }: TokenRequest): TokenResponse | undefined {
  return endpoint === 'token' && response?.status === 200 ? tokenResponse.parse(response.body) : undefined;
}

function nameOf(command: { readonly input: object }): string {
  const { TableName, RequestItems }: { TableName?: string; RequestItems?: object } = command.input;
  const operation = command.constructor.name.replace(/Command$/, '');
  return `${operation} ${TableName ?? Object.keys(RequestItems ?? {}).join(' ')}`;
}
