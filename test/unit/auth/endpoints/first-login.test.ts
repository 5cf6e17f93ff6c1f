import { afterAll, beforeAll, expect, it } from 'vitest';
import { composeToken } from '../../../../lambdas/auth/endpoints/token.composition.ts';
import { type AuthService, authEnvironment, startAuthService } from '../../../support/auth-service.ts';
import { httpRequest } from '../../../support/http-request.ts';
import { fakeKeyDerivation } from '../../../support/password-hashing.ts';

// Tests the number of sequential calls before the first response of a new process (docs/performance.md).

let service: AuthService;
let body: string;
beforeAll(async () => {
  service = await startAuthService({ keyDerivation: fakeKeyDerivation(() => true) });
  const { id, secret } = await service.makeClient();
  const { username, password } = await service.makeUser();
  const fields = { grant_type: 'password', client_id: id, client_secret: secret, username, password };
  body = new URLSearchParams(fields).toString();
});
afterAll(() => service.stop());

/** Starts the token function as a new process, which opens its keys while it loads. Delays calls to AWS until `releaseCalls`. */
const startProcess = (canPrefetch = true) => {
  let delayedCalls: (() => Promise<unknown>)[] = [];
  let isLoading = true;
  const delay = async <Output>(call: () => Promise<Output>) => {
    if (isLoading && !canPrefetch) throw new Error('not yet');
    return new Promise<Output>((resolve, reject) => {
      delayedCalls.push(() => call().then(resolve, reject));
    });
  };
  /** Releases the delayed calls and waits until the process makes no further calls. Returns the number of released calls. */
  const releaseCalls = async () => {
    const calls = delayedCalls;
    delayedCalls = [];
    await Promise.all(calls.map(call => call()));
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    return calls.length;
  };
  const { runtime, telemetry } = service;
  const handle = composeToken(
    authEnvironment,
    {
      ...runtime,
      dynamo: command => delay(() => runtime.dynamo(command)),
      kms: { send: command => delay(() => runtime.kms.send(command)) },
    },
    telemetry,
  );
  isLoading = false;
  /** Logs in. Returns the status and the number of sequential calls. */
  const logIn = async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = handle(httpRequest({ method: 'POST', path: '/oauth/v1/token', headers, body }));
    let [sequentialCalls, isOver] = [0, false];
    void response.finally(() => {
      isOver = true;
    });
    while (!isOver) if ((await releaseCalls()) > 0) sequentialCalls += 1;
    return { sequentialCalls, status: (await response)?.statusCode };
  };
  return { releaseCalls, logIn };
};

it.each([
  [3, 'were opened while it loaded', true, 2],
  [5, 'are being opened', true, 0],
  [7, 'could not be opened while it loaded', false, 0],
])(
  'The first login of a new process makes %i sequential calls if its keys %s.',
  async (sequentialCalls, _, canPrefetch, rounds) => {
    const { releaseCalls, logIn } = startProcess(canPrefetch);
    for (let round = 0; round < rounds; round++) await releaseCalls();
    expect(await logIn()).toEqual({ sequentialCalls, status: 200 });
  },
);
