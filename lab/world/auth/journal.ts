import { type TokenResponse, tokenResponse } from '../../../lambdas/auth/answers.ts';
import { clockError } from '../times.ts';
import type { Change } from '../watched-tables.ts';

/** The functions that people call. */
export type Endpoint = 'token' | 'revoke' | 'introspect';

export type Form = Readonly<Record<string, string>>;

/** The name that a hash has among the calls of a request. */
export const hashName = 'Argon2';

/** A DynamoDB call or a hash that belongs to a request. */
export interface RequestCall {
  /** For example `Update Sessions`. */
  readonly name: string;
  /** The end of the call as the product saw it. It is undefined if its process died first. */
  readonly ending?: 'answered' | 'refused' | 'unanswered';
  /** The number of attempts that the SDK made. */
  readonly attempts?: number;
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface TokenRequest {
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly form: Form;
  readonly ip: string;
  /** The time at which the gateway received it. */
  readonly sentAt: number;
  /** The time at which its function responded or its process died. */
  endedAt?: number;
  /** Undefined if its process died. */
  answer?: Answer;
  readonly calls: RequestCall[];
}

export interface Commanded {
  readonly name: string;
  /** The id of the user or client that it concerns. */
  readonly about: string;
  readonly sentAt: number;
  /** Undefined while it is in flight. */
  endedAt?: number;
}

/** The requests of a world, and their writes. */
export type Journal = ReturnType<typeof makeJournal>;

/** Creates the journal of a world. */
export function makeJournal(now: () => number) {
  const requests = new Map<string, TokenRequest>();
  const requestOf = new WeakMap<object, TokenRequest>();
  const commands: Commanded[] = [];
  return { commands, begin, find, beginCall, all, authorOf };

  /** Records a request that has reached the gateway. */
  function begin(endpoint: Endpoint, form: Form, ip: string): TokenRequest {
    const request = { id: `request-${requests.size + 1}`, endpoint, form, ip, sentAt: now(), calls: [] };
    requests.set(request.id, request);
    return request;
  }

  function find(id: string): TokenRequest {
    const request = requests.get(id);
    if (!request) throw new RangeError(`There is no request ${id}.`);
    return request;
  }

  /** Records that a command is sent for a request. */
  function beginCall(request: TokenRequest, command: { readonly input: object }): RequestCall {
    const call = { name: nameOf(command) };
    request.calls.push(call);
    requestOf.set(command, request);
    return call;
  }

  function all(): readonly TokenRequest[] {
    return [...requests.values()];
  }

  /** Returns the request that caused a write, or undefined for the writes of operators. */
  function authorOf({ command }: Change): TokenRequest | undefined {
    return requestOf.get(command);
  }
}

/** Returns the earliest and the latest time at which a process may have read during a request. */
export function timesOf({ sentAt, endedAt = sentAt }: TokenRequest): readonly [number, number] {
  return [sentAt - clockError, endedAt + clockError];
}

/** Returns the tokens of a granted request. */
export function tokensOf({ endpoint, answer }: TokenRequest): TokenResponse | undefined {
  return endpoint === 'token' && answer?.status === 200 ? tokenResponse.parse(answer.body) : undefined;
}

function nameOf(command: { readonly input: object }): string {
  const { TableName, RequestItems }: { TableName?: string; RequestItems?: object } = command.input;
  const operation = command.constructor.name.replace(/Command$/, '');
  return `${operation} ${TableName ?? Object.keys(RequestItems ?? {}).join(' ')}`;
}
