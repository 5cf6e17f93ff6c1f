import * as z from 'zod';
import { type Clock, systemClock } from '../../lambdas/platform/clock.ts';
import { withDeadline } from '../../lambdas/platform/timer.ts';
import { type Answer, type ApiRequest, makeServiceClient, NoAnswer, type ServiceAddress } from './service-client.ts';
import { Refusal } from './views.ts';

/** The credentials that an integrator logs in with. */
export interface ApiCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly username: string;
  readonly password: string;
}

/** A login at the API whose tokens are in memory only. */
export type ApiSession = Awaited<ReturnType<typeof openApiSession>>;

/** The session has ended, and its tokens are refused. The integrator has to log in again. */
export class SessionEnded extends Error {}

/**
 * Logs in. The password is not kept.
 *
 * @throws {Refusal} if the service refuses the credentials.
 */
export async function openApiSession(address: ServiceAddress, credentials: ApiCredentials, now: Clock = systemClock) {
  const { postForm, callApi } = makeServiceClient(address);
  const client = { client_id: credentials.clientId, client_secret: credentials.clientSecret };
  const { username, password } = credentials;
  let tokens = tokensIn(await postForm('token', { grant_type: 'password', ...client, username, password }));
  /** When the refresh token was first sent, where the service may have replaced it since. */
  let sentAt: number | undefined;
  let refreshing: Promise<void> | undefined;
  const { account_id: account, scope } = claimsOf(tokens.accessToken);
  const { host, hostname } = new URL(address.baseUrl);
  return {
    account,
    /** True where the token may change something. */
    mayChange: scope.split(' ').includes('webhooks:manage'),
    host,
    isLocal: hostname === '127.0.0.1' || hostname === 'localhost',
    call,
    revoke,
    login: { authUrl: address.authUrl, baseUrl: address.baseUrl, claims: async () => claimsOf(tokens.accessToken) },
  };

  /**
   * Calls the API. An access token that has ended is refreshed, once for all calls that wait.
   *
   * @throws {SessionEnded} where no token opens the API any more.
   */
  async function call(method: string, path: string, request: ApiRequest = {}): Promise<Answer> {
    const token = tokens.accessToken;
    const answer = await callApi(method, path, { ...request, token });
    if (answer.status !== 401) return answer;
    if (token === tokens.accessToken) {
      refreshing ??= refresh().finally(() => {
        refreshing = undefined;
      });
      await refreshing;
    }
    const repeated = await callApi(method, path, { ...request, token: tokens.accessToken });
    if (repeated.status === 401) throw new SessionEnded(String(repeated.json?.detail ?? repeated.status));
    return repeated;
  }

  async function refresh(): Promise<void> {
    const { refreshToken } = tokens;
    if (refreshToken === undefined) throw new SessionEnded('There is no refresh token.');
    const answer = await askUntilAnswered({ grant_type: 'refresh_token', ...client, refresh_token: refreshToken });
    const { status, json } = answer;
    // Limits and faults of the service end nothing: the same token is tried again with the next call, while it may be.
    if (status === 401 || (status === 400 && json?.error === 'invalid_grant'))
      throw new SessionEnded(String(json?.error));
    tokens = tokensIn(answer);
    sentAt = undefined;
  }

  /**
   * Asks again where the answer got lost, also in a later call. What may still be answered is waited for: of a client without grace, any
   * token that comes twice counts as stolen.
   *
   * @throws {SessionEnded} without asking, where a token that was replaced would count so.
   */
  async function askUntilAnswered(form: Record<string, string>, repeats = 2): Promise<Answer> {
    const [before, at] = [sentAt, now()];
    sentAt ??= at;
    if (at - sentAt >= longestDoubt) throw new SessionEnded('The refresh token may have been replaced.');
    const ask = (signal?: AbortSignal) => postForm('token', form, signal);
    const asked = repeats === 0 ? ask() : withDeadline(address.after, longestAnswer, ask);
    const answer = await asked.catch(error => {
      if (error instanceof NoAnswer && unsentCodes.has(error.code)) sentAt = before;
      if (repeats === 0) throw error;
      return error instanceof DOMException ? 'none' : undefined;
    });
    if (typeof answer === 'object') {
      if (answer.status > 401 && answer.status < 500) sentAt = before; // a gateway that refuses replaces nothing
      if (answer.status < 500 || repeats === 0) return answer;
    }
    await new Promise<void>(resolve => void address.after(2_000, resolve));
    return askUntilAnswered(form, answer === 'none' ? 0 : repeats - 1);
  }

  /** Ends the session at the service. */
  async function revoke(): Promise<void> {
    await postForm('revoke', { ...client, token: tokens.refreshToken ?? tokens.accessToken });
  }
}

/** The token function has 15 s, and may have to be started. Milliseconds. */
const longestAnswer = 20_000;

/** A refresh token that was replaced is good for 30 s more. Milliseconds. */
const longestDoubt = 25_000;

/** The codes of requests that did not reach the service, as when a laptop wakes up before its network is up. */
const unsentCodes = new Set(
  'ENOTFOUND EAI_AGAIN ECONNREFUSED ENETUNREACH EHOSTUNREACH UND_ERR_CONNECT_TIMEOUT'.split(' '),
);

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
}

function tokensIn({ status, json }: Answer): Tokens {
  if (status !== 200 || typeof json?.access_token !== 'string') {
    const message = `${String(json?.error ?? status)}: ${String(json?.error_description ?? 'no token was issued')}`;
    throw status === 400 || status === 401 ? new Refusal(message) : new Error(message);
  }
  const refreshToken = typeof json.refresh_token === 'string' ? json.refresh_token : undefined;
  return { accessToken: json.access_token, refreshToken };
}

/** Reads the claims of our own token. The API verifies it; here it only names the account. */
function claimsOf(token: string): z.infer<typeof claims> {
  return claims.parse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
}

const claims = z.looseObject({ account_id: z.string().default(''), scope: z.string().default('') });
