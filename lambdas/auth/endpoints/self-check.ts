import { notAnswered } from '../../platform/deployment/patience.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { assertHashing, type PasswordHashing } from '../principals/password-hash.ts';
import { writeRefreshToken } from '../sessions/refresh-token.ts';

/**
 * Makes the check that a deployment has the token function do before anybody calls it: it hashes a password, opens the keys that sign,
 * and answers a login and a refresh of a client that does not exist, which together read each of its tables. So its image, its role and
 * its environment give it what it needs. Writes are not tried.
 *
 * @throws {Error} that says what failed. A login that ended in a fault may pass by itself, such as a permission that IAM does not know
 * yet: its name is `notAnswered`.
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
  return async function checkItself(): Promise<void> {
    await assertHashing(passwords);
    await keyring.open(await keyring.active('signing'));
    const mac = await keyring.active('mac');
    // Only for an authentic token are user and session read. No session has this id.
    const token = writeRefreshToken({ sessionId: 'nobody-1', counter: 1, keyId: mac.keyId }, await keyring.open(mac));
    for (const grant of ['password&username=nobody&password=none', `refresh_token&refresh_token=${token}`]) {
      const form = `client_id=deployment&client_secret=none&grant_type=${grant}`;
      const { statusCode, body } = await tokenEndpoint({ ...requestOfNobody, body: form });
      if (statusCode === 401) continue;
      const name = Number(statusCode) >= 500 ? notAnswered : 'Error';
      throw Object.assign(new Error(`The login of an unknown client returned ${statusCode}: ${body}`), { name });
    }
  };
}

/** A request that no gateway sent. */
const requestOfNobody = {
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
