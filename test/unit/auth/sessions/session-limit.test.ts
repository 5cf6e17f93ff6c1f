import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { isExpired, parseSession, type Session } from '../../../../lambdas/auth/sessions/session.ts';
import { makeSessionLimit } from '../../../../lambdas/auth/sessions/session-limit.ts';
import type { Dynamo } from '../../../../lambdas/platform/aws/dynamo.ts';
import { type AuthService, type ClientCredentials, startAuthService } from '../../../support/auth-service.ts';
import { putAll } from '../../../support/database/put-all.ts';
import { judgedBy } from '../../../support/password-hashing.ts';
import { amount, casesOf } from '../../../support/sample.ts';

let drawn = 0;
let client: Awaited<ReturnType<AuthService['makeClient']>>;
let user: Awaited<ReturnType<AuthService['makeUser']>>;
// verification without its cost, since thousands of logins are made here
const service = await startAuthService({ keyDerivation: judgedBy(() => true), random: () => drawn });
afterAll(() => service.stop());
beforeEach(async () => {
  drawn = 0;
  client = await service.makeClient();
  user = await service.makeUser();
});

const logIn = async (from: ClientCredentials = client, as = user, more = {}) => {
  service.clock.advance(1);
  return service.logIn(from, as, more);
};
const logInTimes = async (times: number, from = client, as = user): Promise<string[]> => {
  const tokens = [];
  for (let time = 0; time < times; time++) tokens.push((await logIn(from, as)).json.refresh_token as string);
  return tokens;
};
const refresh = (token: string) => service.refresh(client, token);
const idOf = (token: string) => token.split('.')[0] ?? '';
const itemsOf = async (userId: string) => {
  const query = new QueryCommand({
    TableName: 'Sessions',
    KeyConditionExpression: 'userId = :user',
    ExpressionAttributeValues: { ':user': userId },
  });
  return (await service.database.dynamo(query)).Items ?? [];
};
const storedOf = async (userId: string): Promise<Session[]> =>
  (await itemsOf(userId)).map(parseSession).filter(session => session !== undefined);
const liveOf = async (from = client, as = user) =>
  (await storedOf(as.user.userId)).filter(
    session =>
      session.clientId === from.id && session.revokedAt === undefined && !isExpired(session, service.clock.now()),
  );
const leftOf = async () => (await liveOf()).map(({ sessionId }) => sessionId);
/** A session as it is stored, one of many that were there before. */
const earlier = (number: number, change: Partial<Session> = {}): Session => ({
  sessionId: `${user.user.userId}-earlier${number}`,
  clientId: client.id,
  userId: user.user.userId,
  accountId: 'acme',
  userVersion: 1,
  clientVersion: 1,
  scope: '',
  counter: 1,
  keyId: 'k',
  createdAt: number,
  rotatedAt: number,
  idleExpiresAt: service.clock.now() + 86_400_000,
  absoluteExpiresAt: service.clock.now() + 86_400_000,
  ...change,
});
const store = (sessions: readonly Session[]) => putAll(service.database.dynamo, 'Sessions', sessions);
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
const storeEarlier = (count: number) => store(numbers(count).map(number => earlier(number)));
const throwing = (name: string) => () => {
  throw Object.assign(new Error('canary'), { name });
};

/** Sessions from before, in the place of logins: a full run makes all of them by logins. */
const begun = amount({ sample: 210, full: 0 });

describe('the sessions of a user at one client', () => {
  it.each(casesOf([0.35, 0, 0.999], 3))('are at most 240 live ones when 300 begin, drawn at %d', async draw => {
    drawn = draw;
    let most = 0;
    await storeEarlier(begun);
    for (let time = begun; time < 300; time++) {
      await logIn();
      if (time >= 200 && time % 10 === 9) most = Math.max(most, (await liveOf()).length);
    }
    expect(most).toBeLessThanOrEqual(240);
    expect((await liveOf()).length).toBeGreaterThanOrEqual(200);
    expect((await liveOf()).length).toBeLessThanOrEqual(240);
  });

  it('are about 200 when 300 begin side by side', async () => {
    drawn = Math.random();
    await storeEarlier(begun);
    for (let round = begun / 30; round < 10; round++) {
      const answers = await Promise.all(numbers(30).map(() => logIn()));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    }
    const live = await liveOf();
    expect(live.length, `drawn at ${drawn}`).toBeGreaterThanOrEqual(170);
    expect(live.length, `drawn at ${drawn}`).toBeLessThanOrEqual(240);
  });

  it('are counted at one login in twenty, which is drawn, and no other login makes another call', async () => {
    for (const [draw, counting] of [
      [0, 20],
      [0.5, 10],
      [0.95, 1],
    ] as const) {
      drawn = draw;
      await logIn(); // by another user: a process notes once a day that the client's secret is used
      user = await service.makeUser();
      const counted: number[] = [];
      await service.keyring.list('mac');
      for (let login = 1; login <= 60; login++) {
        service.database.operations.length = 0;
        await logIn();
        const calls = service.database.operations.filter(operation => operation !== 'QueryCommand');
        const expected = ['BatchGetItemCommand', 'BatchGetItemCommand', 'UpdateItemCommand', 'PutItemCommand'];
        expect(calls).toEqual(expected);
        if (service.database.operations.length > calls.length) counted.push(login);
      }
      expect(counted).toEqual([counting, counting + 20, counting + 40]);
    }
  });

  it('are not left uncounted by a login that is refused for its scopes in the place of the twentieth', async () => {
    user = await service.makeUser({ role: 'member' });
    await logInTimes(19);
    const refused = await logIn(client, user, { scope: 'webhooks:read' });
    expect(refused.json.error).toBe('invalid_scope');
    service.database.operations.length = 0;
    await logIn();
    expect(service.database.operations).toContain('QueryCommand');
  });

  it('end longest unused first: one that was refreshed stays', async () => {
    drawn = 0;
    const tokens = await logInTimes(219);
    service.clock.advance(1_000);
    expect((await refresh(tokens[0] ?? '')).status).toBe(200);
    const last = await logIn(); // the 220th counts
    const live = new Set((await liveOf()).map(({ sessionId }) => sessionId));
    const kept = [tokens[0], ...tokens.slice(21), last.json.refresh_token as string];
    expect([...live].toSorted()).toEqual(kept.map(token => idOf(token ?? '')).toSorted());
    const ended = await refresh(tokens[1] ?? '');
    expect(ended).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect(service.metrics).not.toContain('RefreshTokenReuse');
  });

  it('keep the one that was used while they were counted', async () => {
    await storeEarlier(210);
    drawn = 0.95;
    const now = service.clock.now();
    const stop = service.database.before('DeleteItemCommand', async () => {
      stop();
      const rotation = { keyId: 'k', rotatedAt: now, idleExpiresAt: now + 1_000_000, rotationId: 'r' };
      await service.sessions.rotateSession(earlier(0), rotation);
    });
    expect((await logIn()).status).toBe(200);
    const left = (await liveOf()).map(({ sessionId }) => sessionId);
    expect(left).toContain(earlier(0).sessionId);
    expect(left).not.toContain(earlier(1).sessionId);
    expect(left).toHaveLength(201);
  });

  it('keep the new one, even where others claim to have been used later', async () => {
    const later = service.clock.now() + 1_000;
    await store(numbers(205).map(number => earlier(number, { rotatedAt: later })));
    drawn = 0.95;
    const { json } = await logIn();
    const left = (await liveOf()).map(({ sessionId }) => sessionId);
    expect(left).toContain(idOf(json.refresh_token));
    expect(left).toHaveLength(200);
  });

  it.each([
    ['revoked', { revokedAt: 1, revokedFor: 'reuse' as const }],
    ['expired', { idleExpiresAt: 1 }],
    ['ended by a new password', { userVersion: 0 }],
  ])('go before live ones where they are %s, and stay while there is room', async (_, over) => {
    await storeEarlier(150);
    await store(numbers(40).map(number => earlier(1_000 + number, over)));
    drawn = 0.95;
    await logIn();
    expect(await storedOf(user.user.userId)).toHaveLength(191);
    await store(numbers(40).map(number => earlier(2_000 + number, over)));
    await service.lockout.unlock(user.username); // the next login is the first again, and counts
    await logIn();
    const stored = (await storedOf(user.user.userId)).map(({ sessionId }) => sessionId);
    expect(stored).toHaveLength(200);
    expect(stored.filter(id => Number(id.split('earlier')[1]) < 150)).toHaveLength(150);
  });

  it('cost a bounded number of calls, however many were there before, and come down to 200', async () => {
    await storeEarlier(800);
    const limits: number[] = [];
    for (let counts = 0; counts < 8; counts++) {
      await service.lockout.unlock(user.username);
      drawn = 0.95;
      service.database.operations.length = 0;
      await logIn();
      limits.push(service.database.operations.length);
    }
    expect(Math.max(...limits)).toBeLessThanOrEqual(4 + 1 + 4 + 100); // the login, the note of its secret, the count, the deletions
    const left = await liveOf();
    expect(left).toHaveLength(200);
    const last = left.map(({ sessionId }) => Number(sessionId.split('earlier')[1])).filter(Number.isInteger);
    expect(Math.min(...last)).toBe(608); // of all, those that were used last: 192 and the new 8
  });
});

describe('a user of many clients', () => {
  it('has 240 live sessions at most at one of them, however many at the others', async () => {
    // ids that sort before those of the client, and more of them than one count reads
    await store(
      numbers(4_100).map(number =>
        earlier(number, { sessionId: `${user.user.userId}-0other${number}`, clientId: 'other' }),
      ),
    );
    await storeEarlier(begun);
    await logInTimes(300 - begun);
    expect((await liveOf()).length).toBeLessThanOrEqual(240);
    expect(await service.sessionList.listSessions({ clientId: 'other' }, 1)).toMatchObject({
      sessions: [{ clientId: 'other' }],
    });
  });

  it('has none of them read, and none of another user whose id begins alike', async () => {
    const neighbour = { ...user.user, userId: `${user.user.userId}0` };
    await store(
      numbers(250).map(number =>
        earlier(number, { sessionId: `${neighbour.userId}-earlier${number}`, userId: neighbour.userId }),
      ),
    );
    drawn = 0.95;
    service.database.operations.length = 0;
    await logIn();
    expect(service.database.operations.filter(operation => operation === 'QueryCommand')).toHaveLength(1);
    expect(await storedOf(neighbour.userId)).toHaveLength(250);
  });
});

describe('sessions that were never refreshed', () => {
  const minute = 60_000;
  const stored = async (name: string, count: number, ago: number, counter: number) => {
    const rotatedAt = service.clock.now() - ago;
    const sessions = numbers(count).map(number =>
      earlier(number, { sessionId: `${user.user.userId}-${name}${number}`, createdAt: rotatedAt, rotatedAt, counter }),
    );
    await store(sessions);
    return sessions.map(({ sessionId }) => sessionId);
  };

  it.each([
    ['of the last hour go before one that was refreshed in the last hour', [14 * minute, 2], [minute, 1]],
    ['for an hour go before one that was refreshed a week ago', [7 * 24 * 60 * minute, 2], [61 * minute, 1]],
    [
      'of the last hour, which may be in use, go after those that nobody used for an hour',
      [minute, 1],
      [61 * minute, 2],
    ],
  ] as const)('%s', async (_case, [keptAgo, keptCounter], [endedAgo, endedCounter]) => {
    const kept = await stored('kept', 1, keptAgo, keptCounter);
    await stored('ended', 250, endedAgo, endedCounter);
    drawn = 0.95;
    await logIn();
    expect(await leftOf()).toEqual(expect.arrayContaining(kept));
    expect(await leftOf()).toHaveLength(200);
  });
});

describe('a login that is not answered with tokens leaves no session', () => {
  it.each([
    ['UpdateItemCommand', 'ThrottlingException', 503],
    ['UpdateItemCommand', 'SomethingUnforeseen', 500],
    ['PutItemCommand', 'ThrottlingException', 503],
  ])('where %s fails with %s', async (operation, name, status) => {
    const stop = service.database.before(operation, throwing(name));
    const answer = await logIn();
    stop();
    expect(answer.status).toBe(status);
    expect(await storedOf(user.user.userId)).toEqual([]);
  });

  it('also where it was stored and the answer was lost', async () => {
    service.database.repeatNext('PutItemCommand', throwing('TimeoutError'));
    expect((await logIn()).status).toBe(503);
    expect(await storedOf(user.user.userId)).toEqual([]);
  });

  // Bug: where its session could not be stored either, it was a 503, which a wrong password never got: nor did it count.
  it.each([
    ['', async () => {}],
    [', though it could not be stored', throwing('ThrottlingException')],
  ])('nor where a lock overtook it%s', async (_case, store) => {
    const key = await service.lockout.keyOf(client.id, user.user.email);
    await logIn();
    const stopLock = service.database.before('UpdateItemCommand', async () => {
      stopLock();
      for (let times = 0; times < 5; times++) {
        await service.lockout.countFailure(key, service.lockout.failuresIn(key, undefined));
      }
    });
    const stop = service.database.before('PutItemCommand', store);
    const answer = await logIn();
    stop();
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect(await storedOf(user.user.userId)).toHaveLength(1);
    const { clients } = await service.lockout.findFailures(user.user.email, [client.id]);
    expect(clients).toMatchObject([{ failures: 6 }]);
  });

  it('unless the store does not take the deletion: then one that was never used', async () => {
    const stop = service.database.before(/^(?:Update|Delete)Item/, throwing('ThrottlingException'));
    const answer = await logIn();
    stop();
    expect(answer.status).toBe(503);
    expect(await storedOf(user.user.userId)).toMatchObject([{ counter: 1 }]);
  });
});

describe('a login does not fail where its user’s sessions', () => {
  it.each([
    ['cannot be counted', 'QueryCommand'],
    ['cannot be ended', 'DeleteItemCommand'],
  ])('%s', async (_, operation) => {
    await storeEarlier(220);
    drawn = 0.95;
    const stop = service.database.before(operation, throwing('ThrottlingException'));
    const answer = await logIn();
    stop();
    expect(answer.status).toBe(200);
    expect((await refresh(answer.json.refresh_token)).status).toBe(200);
    expect(service.logs.filter(line => line.includes('sessions.not_limited')).at(-1)).toContain('ThrottlingException');
    expect(service.logs.join()).not.toContain('canary');
  });
});

it('a login does not wait for sessions that cannot be counted because nobody answers', async () => {
  const lines: unknown[] = [];
  const log = { info: () => {}, warn: () => {}, error: (...line: unknown[]) => void lines.push(line[0]) };
  const silent: Dynamo = (_command, { abortSignal } = {}) =>
    new Promise((_, reject) => abortSignal?.addEventListener('abort', () => reject(abortSignal.reason)));
  const limit = makeSessionLimit({
    ...{ dynamo: silent, table: 'Sessions', log, ...service.clock.time, random: () => 0 },
  });
  await limit.apply(20, { client: client.client, user: user.user, session: earlier(1) });
  expect(lines).toEqual(['sessions.not_limited']);
});

describe('a login through a client that may not refresh', () => {
  beforeEach(async () => {
    client = await service.makeClient({ grants: ['password'] });
  });

  it('leaves a session that lives, and is stored, as long as its access token', async () => {
    const { json } = await logIn();
    expect(json.expires_in).toBe(900);
    const [session] = await storedOf(user.user.userId);
    const end = service.clock.now() + 900_000;
    expect(session).toMatchObject({ idleExpiresAt: end, absoluteExpiresAt: end });
    expect((await itemsOf(user.user.userId))[0]?.ttl).toBe(Math.ceil(end / 1_000));
    service.clock.set(end - 1);
    expect(await liveOf()).toHaveLength(1);
    service.clock.advance(1);
    expect(await liveOf()).toHaveLength(0);
  });

  it('leaves a long session where it may refresh', async () => {
    client = await service.makeClient();
    await logIn();
    const [session] = await storedOf(user.user.userId);
    expect(session?.idleExpiresAt).toBe(service.clock.now() + 14 * 86_400_000);
    expect((await itemsOf(user.user.userId))[0]?.ttl).toBe(Math.ceil((session?.idleExpiresAt ?? 0) / 1_000));
  });
});
