import { type After, withDeadline } from '../../lambdas/platform/timer.ts';

/**
 * Makes a client of the service at these public URLs: it sends requests as an integrator does, and reads whatever is answered.
 *
 * @throws {UnexpectedAnswer} from its calls where there is no answer.
 */
export function makeServiceClient({ authUrl, baseUrl, fetch, after }: ServiceAddress) {
  return { postForm, callApi };

  /** POSTs a form to an endpoint of {auth_url}. */
  function postForm(endpoint: string, form: Form, { headers, signal }: RequestOptions = {}): Promise<Answer> {
    return send(`${authUrl}/oauth/v1/${endpoint}`, signal, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', ...headers },
      body: new URLSearchParams(form).toString(),
    });
  }

  /** Sends a request to {base_url}. */
  function callApi(method: string, path: string, { token, headers, signal, body }: ApiRequest = {}): Promise<Answer> {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const json = body === undefined || isRaw ? undefined : JSON.stringify(body);
    const bytes = body instanceof Uint8Array ? new Uint8Array(body) : new TextEncoder().encode(`${body}`);
    return send(`${baseUrl}${path}`, signal, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: json ?? bytes }),
    });
  }

  async function send(url: string, signal: AbortSignal | undefined, request: RequestInit): Promise<Answer> {
    const call = `${request.method} ${new URL(url).pathname}`;
    let isLate = false;
    try {
      return await withDeadline(after, callTimeoutMs, async late => {
        late.addEventListener('abort', () => {
          isLate = late.reason instanceof Error && late.reason.name === 'TimeoutError';
        });
        const ended = signal === undefined ? late : AbortSignal.any([signal, late]);
        const response = await fetch(url, { ...request, redirect: 'error', signal: ended });
        const text = await response.text();
        return { call, status: response.status, headers: response.headers, text, json: parseJson(text) };
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      const why = isLate ? `within ${callTimeoutMs / 1_000} s` : `(${codeOf(error)})`;
      throw new UnexpectedAnswer(0, `${call} was not answered ${why} by ${new URL(url).host}`);
    }
  }
}

export interface ServiceAddress {
  readonly authUrl: string;
  readonly baseUrl: string;
  /** The platform's `fetch`, or a test's. */
  readonly fetch: (url: string, request: RequestInit) => Promise<Response>;
  readonly after: After;
}

/** The fields of a form; as pairs where one is given twice. */
export type Form = Readonly<Record<string, string>> | readonly [string, string][];

interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal;
}

export interface ApiRequest extends RequestOptions {
  readonly token?: string;
  /** Sent as JSON; a string or bytes are sent as they are, without a content type. */
  readonly body?: unknown;
}

export interface Answer {
  /** Method and path. */
  readonly call: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; `undefined` where it is none. */
  readonly json: Record<string, unknown> | undefined;
}

/** An answer that a service in order does not give, or none. The message quotes the service's own codes and nothing that was sent. */
export class UnexpectedAnswer extends Error {
  override readonly name = 'UnexpectedAnswer';
  /** 0 where there was no answer. */
  readonly status: number;
  /** The `pointer` of each finding of a 422. */
  readonly pointers: readonly string[];

  constructor(status: number, message: string, pointers: readonly string[] = []) {
    super(message);
    this.status = status;
    this.pointers = pointers;
  }
}

/** Longer than the gateway waits for a function that starts. In milliseconds. */
const callTimeoutMs = 30_000;

/** Returns the system's or OpenSSL's code for a failed request; `fetch` has it in the cause. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  return /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : 'no connection';
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
