import { afterAll, beforeAll, expect, it } from 'vitest';
import { composeToken } from '../../../../lambdas/auth/endpoints/token.composition.ts';
import { type AuthService, authEnvironment, startAuthService } from '../../../support/auth-service.ts';
import { httpRequest } from '../../../support/http-request.ts';
import { judgedBy } from '../../../support/password-hashing.ts';

// A fresh process makes few calls in a row before its first answer (docs/performance.md).

let service: AuthService;
let body: string;
beforeAll(async () => {
  service = await startAuthService({ keyDerivation: judgedBy(() => true) });
  const { id, secret } = await service.makeClient();
  const { username, password } = await service.makeUser();
  const fields = { grant_type: 'password', client_id: id, client_secret: secret, username, password };
  body = new URLSearchParams(fields).toString();
});
afterAll(() => service.stop());

/** The token function as a fresh process has it, which opens its keys while it loads. Store calls are held, and released together. */
const startProcess = (canOpenEarly = true) => {
  let held: (() => Promise<unknown>)[] = [];
  let isLoading = true;
  const through = async <Answer>(call: () => Promise<Answer>) => {
    if (isLoading && !canOpenEarly) throw new Error('not yet');
    return new Promise<Answer>((resolve, reject) => {
      held.push(() => call().then(resolve, reject));
    });
  };
  /** Releases the held calls, and waits until the process makes no more. Returns the number of released calls. */
  const letGo = async () => {
    const calls = held;
    held = [];
    await Promise.all(calls.map(call => call()));
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    return calls.length;
  };
  const { runtime, telemetry } = service;
  const answer = composeToken(
    authEnvironment,
    {
      ...runtime,
      dynamo: command => through(() => runtime.dynamo(command)),
      kms: { send: command => through(() => runtime.kms.send(command)) },
    },
    telemetry,
  );
  isLoading = false;
  /** Logs in. Returns the status and the number of sequential calls. */
  const logIn = async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answered = answer(httpRequest({ method: 'POST', path: '/oauth/v1/token', headers, body }));
    let [inARow, isOver] = [0, false];
    void answered.finally(() => {
      isOver = true;
    });
    while (!isOver) if ((await letGo()) > 0) inARow += 1;
    return { inARow, status: (await answered)?.statusCode };
  };
  return { letGo, logIn };
};

it.each([
  [3, 'were opened while it loaded', true, 2],
  [5, 'are opened meanwhile', true, 0],
  [7, 'could not be opened early', false, 0],
])(
  'The first login of a fresh process makes %i calls in a row if its keys %s.',
  async (inARow, _, canOpenEarly, rounds) => {
    const { letGo, logIn } = startProcess(canOpenEarly);
    for (let round = 0; round < rounds; round++) await letGo();
    expect(await logIn()).toEqual({ inARow, status: 200 });
  },
);
