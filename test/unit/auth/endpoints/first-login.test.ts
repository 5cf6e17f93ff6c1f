import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

/**
 * Holds the calls of stores back, and lets them go together: those that are made meanwhile are in a row with them. A function that
 * loads opens its keys while its modules are still evaluated.
 */
const makeGate = () => {
  const held: (() => Promise<unknown>)[] = [];
  let inARow = 0;
  const through = <Answer>(call: () => Promise<Answer>) =>
    new Promise<Answer>((resolve, reject) => {
      held.push(() => call().then(resolve, reject));
    });
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  };
  const letGo = async () => {
    const calls = held.splice(0);
    await Promise.all(calls.map(call => call()));
    await settle();
    return calls.length;
  };
  /** Lets everything go until it has ended; returns how many calls were made one after another. */
  const countUntil = async (ended: Promise<unknown>): Promise<number> => {
    let isOver = false;
    void ended.finally(() => {
      isOver = true;
    });
    for (inARow = 0; !isOver; await new Promise(setImmediate)) if ((await letGo()) > 0) inARow += 1;
    return inARow;
  };
  return { through, letGo, settle, countUntil };
};

/** The token function as a fresh process has it, which opens its keys while it loads. */
const startProcess = (canOpenEarly = true) => {
  const gate = makeGate();
  let isLoading = true;
  const through = <Answer>(call: () => Promise<Answer>) =>
    isLoading && !canOpenEarly ? Promise.reject(new Error('not yet')) : gate.through(call);
  const { outside, telemetry } = service;
  const answer = composeToken(
    authEnvironment,
    {
      ...outside,
      dynamo: command => through(() => outside.dynamo(command)),
      kms: { send: command => through(() => outside.kms.send(command)) },
    },
    telemetry,
  );
  isLoading = false;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const login = () => answer(httpRequest({ method: 'POST', path: '/oauth/v1/token', headers, body }));
  return { gate, login };
};

describe('The first login of a fresh process', () => {
  it('makes three calls in a row if the keys were opened while it loaded.', async () => {
    const { gate, login } = startProcess();
    for (let round = 0; round < 2; round++) await gate.letGo();
    const answer = login();
    expect(await gate.countUntil(answer)).toBe(3);
    expect(await answer).toMatchObject({ statusCode: 200 });
  });

  it.each([
    [5, 'are opened meanwhile', true],
    [7, 'could not be opened early', false],
  ])('makes %i if they %s.', async (expected, _case, canOpenEarly) => {
    const { gate, login } = startProcess(canOpenEarly);
    const answer = login();
    expect(await gate.countUntil(answer)).toBe(expected);
    expect(await answer).toMatchObject({ statusCode: 200 });
  });
});
