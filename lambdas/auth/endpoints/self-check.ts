import { noResponse } from '../../platform/deployment/retry.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { assertHashing, type PasswordHashing } from '../principals/password-hash.ts';
import { writeRefreshToken } from '../sessions/refresh-token.ts';

/**
 * Creates the check that a deployment runs before the token function receives traffic. It hashes a password, opens the signing and MAC
 * keys, and sends a login and a refresh request with an unknown client. These requests read all tables and write to none.
 *
 * @throws {Error} if the check fails. The error's name is `noResponse` if a retry may succeed, for example with a new IAM permission.
 */
export function makeSelfCheck({
  passwords,
  keyring,
  tokenEndpoint,
}: {
  readonly passwords: Pick<PasswordHashing, 'verify'>;
  /** Must be able to open signing and MAC keys. */
  readonly keyring: Pick<Keyring, 'active' | 'open'>;
  readonly tokenEndpoint: (request: HttpRequest) => Promise<HttpResponse>;
}) {
  return async function selfCheck(): Promise<void> {
    await assertHashing(passwords);
    await keyring.open(await keyring.active('signing'));
    const mac = await keyring.active('mac');
    // The endpoint reads the user and the session only for an authentic token. No session has this id.
    const token = writeRefreshToken({ sessionId: 'nobody-1', counter: 1, keyId: mac.keyId }, await keyring.open(mac));
    for (const grant of ['password&username=nobody&password=none', `refresh_token&refresh_token=${token}`]) {
      const form = `client_id=deployment&client_secret=none&grant_type=${grant}`;
      const { statusCode, body } = await tokenEndpoint({ ...syntheticRequest, body: form });
      if (statusCode === 401) continue;
      const name = Number(statusCode) >= 500 ? noResponse : 'Error';
      throw Object.assign(new Error(`The login of an unknown client returned ${statusCode}: ${body}`), { name });
    }
  };
}

/** A request in the gateway's format. */
const syntheticRequest = {
  version: '2.0',
  routeKey: '$default',
  rawPath: '/oauth/v1/token',
  rawQueryString: '',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  requestContext: {
    accountId: '',
    apiId: '',
    domainName: '',
    domainPrefix: '',
    http: {
      method: 'POST',
      path: '/oauth/v1/token',
      protocol: 'HTTP/1.1',
      sourceIp: '0.0.0.0',
      userAgent: 'deployment',
    },
    requestId: 'deployment',
    routeKey: '$default',
    stage: '$default',
    time: '',
    timeEpoch: 0,
  },
  isBase64Encoded: false,
} satisfies HttpRequest;
