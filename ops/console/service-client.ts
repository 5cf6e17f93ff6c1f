import { type After, withDeadline } from '../../lambdas/platform/timer.ts';

/**
 * Creates a client of the service at these public URLs. It returns every answer, also refusals.
 *
 * @throws {NoAnswer} from its calls if the service does not answer.
 */
export function makeServiceClient({ authUrl, baseUrl, fetch, after }: ServiceAddress) {
  return { postForm, callApi };

  /** POSTs a form to an endpoint of {auth_url}. */
  function postForm(endpoint: 'token' | 'revoke', form: Form, signal?: AbortSignal): Promise<Answer> {
    return send(`${authUrl}/oauth/v1/${endpoint}`, signal, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(form),
    });
  }

  /** Sends a request to {base_url}. */
  function callApi(method: string, path: string, { token, language, body }: ApiRequest & { token: string }) {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    return send(`${baseUrl}${path}`, undefined, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(language && { 'accept-language': language }), ...json },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async function send(url: string, signal: AbortSignal | undefined, request: RequestInit): Promise<Answer> {
    try {
      return await withDeadline(after, callTimeoutMs, async deadline => {
        const ended = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
        const response = await fetch(url, { ...request, redirect: 'error', signal: ended });
        const text = await response.text();
        return { status: response.status, headers: response.headers, json: parseJson(text) };
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new NoAnswer(codeOf(error));
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

type Form = Readonly<Record<string, string>>;

export interface ApiRequest {
  readonly language?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; `undefined` if it is none. */
  readonly json: Record<string, unknown> | undefined;
}

/** The service did not answer. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  /** The code of the system or of OpenSSL; empty if there is none, as after a timeout. */
  readonly code: string;

  constructor(code: string) {
    super(`The service did not answer. ${code}`.trim());
    this.code = code;
  }
}

/** Longer than the gateway waits for a function that starts. */
const callTimeoutMs = 30_000;

/** Returns the code of a failed request; `fetch` has it in the cause. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  return /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : '';
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
