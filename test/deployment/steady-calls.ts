import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

/** The hosts that a caller uses, as it writes them into `Host`. */
export interface Hosts {
  readonly auth: string;
  readonly base: string;
}

/** A client with a user. */
export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly email: string;
  readonly password: string;
}

/** Callers that do not stop. */
export interface SteadyCalls {
  /** Lets callers use further hosts, with the tokens of all. */
  begin(hosts: Hosts): void;
  /** Callers of these hosts stop. Their tokens stay in use for as long as they are good. */
  end(hosts: Hosts): void;
  /** Ends all of them. Returns the calls that were answered, and what was not answered with 200. */
  stop(): Promise<{ readonly calls: number; readonly failures: readonly string[] }>;
}

/**
 * Calls the emulator again and again, as integrators do who know one of its hosts: each logs in or refreshes, and then calls
 * {base_url} at every host, with tokens that are good until the call has ended.
 *
 * @param port - the emulator's. It tells APIs apart by the header `Host`, as API Gateway does.
 */
export function makeSteadyCalls(port: number, { clientId, clientSecret, email, password }: Credentials): SteadyCalls {
  const callers = new Map<string, Hosts>();
  const tokens: { readonly value: string; readonly of: string; readonly end: number }[] = [];
  const failures: string[] = [];
  let calls = 0;
  let isStopped = false;
  const running = run();

  return {
    begin: hosts => void callers.set(hosts.auth, hosts),
    end: hosts => void callers.delete(hosts.auth),
    stop: async () => {
      isStopped = true;
      await running;
      return { calls, failures };
    },
  };

  async function run(): Promise<void> {
    while (!isStopped) {
      for (const { auth } of callers.values()) await logIn(auth);
      for (const { base } of callers.values()) {
        const soon = Date.now() + longestCall;
        for (const token of tokens.filter(({ end }) => end < soon)) tokens.splice(tokens.indexOf(token), 1);
        await Promise.all(tokens.map(({ value, of }) => list(base, value, of)));
      }
      await pause(1_500);
    }
  }

  async function logIn(host: string): Promise<void> {
    const own = { client_id: clientId, client_secret: clientSecret };
    const first = await takeTokens(host, { ...own, grant_type: 'password', username: email, password });
    if (first) await takeTokens(host, { ...own, grant_type: 'refresh_token', refresh_token: first.refresh_token });
  }

  async function takeTokens(host: string, form: Record<string, string>) {
    const asked = Date.now();
    const body = new URLSearchParams(form).toString();
    const answer = await send('POST', host, '/oauth/v1/token', `a ${form.grant_type} grant`, {
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    if (answer === undefined) return undefined;
    const { access_token, refresh_token, expires_in } = JSON.parse(answer);
    tokens.push({ value: access_token, of: host, end: asked + expires_in * 1_000 });
    if (tokens.length > tokensInUse) tokens.splice(1, 1); // the oldest one is the one that matters
    return { refresh_token: refresh_token as string };
  }

  async function list(host: string, token: string, of: string): Promise<void> {
    await send('GET', host, '/v1/webhooks', `a token of ${of}`, { headers: { authorization: `Bearer ${token}` } });
  }

  /** Returns the body of an answer with 200; `undefined` after any other, which is noted. */
  async function send(
    method: string,
    host: string,
    place: string,
    what: string,
    options: Sent,
  ): Promise<string | undefined> {
    calls++;
    try {
      const sent = request({
        host: '127.0.0.1',
        port,
        method,
        path: place,
        agent: false,
        headers: { ...options.headers, host },
      });
      sent.end(options.body);
      const [answer]: IncomingMessage[] = await once(sent, 'response');
      const body = answer ? await text(answer) : '';
      if (answer?.statusCode === 200) return body;
      throw new Error(`${answer?.statusCode} ${body}`);
    } catch (error) {
      failures.push(`${new Date().toISOString()} ${method} ${host}${place} with ${what}: ${error}`);
      return undefined;
    }
  }
}

interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Milliseconds: a function of the emulator may be starting. */
const longestCall = 10_000;

/** Tokens that are tried in each round. */
const tokensInUse = 8;
