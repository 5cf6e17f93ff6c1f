import { afterAll, describe, expect, it } from 'vitest';
import { makeSessionStore } from '../../../../lambdas/auth/sessions/session-store.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { startOperatedTables } from '../../../support/operated-tables.ts';

const operated = await startOperatedTables();
afterAll(() => operated.stop());
const { json, run } = operated;

const sessions = makeSessionStore({ ...systemTime, dynamo: operated.database.dynamo, table: 'Sessions' });
const startSession = async (userId: string, clientId: string, name: string) => {
  const [now, sessionId] = [Date.now(), `${userId}-${name}`];
  await sessions.createSession({
    ...{ sessionId, clientId, userId, accountId: 'acme', userVersion: 1, clientVersion: 1, scope: 'webhooks:read' },
    ...{ counter: 1, keyId: 'key', createdAt: now, rotatedAt: now },
    ...{ idleExpiresAt: now + 60_000, absoluteExpiresAt: now + 60_000 },
  });
  return sessionId;
};
const ids = async (options: string) =>
  (await json(`sessions list ${options}`)).map(({ sessionId }: { sessionId: string }) => sessionId);
const createOwner = async () => ({ ...(await operated.createUser()), ...(await operated.createClient()) });

describe('ops sessions list', () => {
  it('lists live sessions of a user, of a client, or of both, page by page', async () => {
    const { userId, email, clientId } = await createOwner();
    const { clientId: other } = await operated.createClient();
    const [one, two] = [await startSession(userId, clientId, 'a'), await startSession(userId, other, 'b')];
    expect(await ids(`--user ${email}`)).toEqual([one, two]);
    expect(await ids(`--client ${clientId}`)).toEqual([one]);
    expect(await ids(`--user ${userId} --client ${other}`)).toEqual([two]);
    expect(await ids(`--user ${userId} --limit 1`)).toEqual([one]);
    expect(await ids(`--user ${userId} --after ${one}`)).toEqual([two]);
  });

  it('--all shows why each session ended', async () => {
    const { userId, clientId } = await createOwner();
    const sessionId = await startSession(userId, clientId, 'a');
    const ended = async () => (await json(`sessions list --user ${userId} --all`))[0].endedBy;
    expect(await ended()).toBeNull();
    await json(`sessions end --client ${clientId}`);
    expect(await ended()).toBe('ended_for_the_client');
    await json(`users set-password ${userId}`);
    expect(await ended()).toBe('ended_for_the_user');
    await sessions.revokeSession(sessionId, 'revocation', Date.now());
    expect(await ended()).toBe('revocation');
    expect(await ids(`--user ${userId}`)).toEqual([]);
  });

  it('--after accepts only a session of the client, including a deleted one', async () => {
    const [{ clientId }, other] = [await createOwner(), await createOwner()];
    await startSession('user1', clientId, 'a');
    const last = await startSession('user1', clientId, 'c');
    await startSession('user2', other.clientId, 'b');
    for (const after of ['user1-a', 'user1-b'])
      expect(await ids(`--client ${clientId} --all --after ${after}`)).toEqual([last]);
    for (const after of ['junk', 'user2-b']) {
      const stderr = `error: "${after}" is not a session of that client. Set --after to the last session shown.\n`;
      const failure = { code: 1, stdout: '', stderr };
      expect(await run(`sessions list --client ${clientId} --all --after ${after}`)).toEqual(failure);
    }
  });
});

describe('ops sessions end', () => {
  it.each([
    ['SESSION', /^error: This permanently ends session /, ['ended', 'live', 'live']],
    ['--user EMAIL', /^error: This permanently ends every session of user /, ['ended', 'ended', 'live']],
    ['--client CLIENT', /^error: This permanently ends every session of client /, ['ended', 'live', 'ended']],
  ])('%s asks for confirmation, and ends only the matching sessions', async (words, question, states) => {
    const [own, other] = [await createOwner(), await createOwner()];
    const one = await startSession(own.userId, own.clientId, 'a');
    await startSession(own.userId, other.clientId, 'b');
    await startSession(other.userId, own.clientId, 'c');
    const end = words.replace('SESSION', one).replace('EMAIL', own.email).replace('CLIENT', own.clientId);
    const state = async () => {
      const owners = [own.userId, other.userId];
      const lists = await Promise.all(owners.map(userId => json(`sessions list --all --user ${userId}`)));
      return lists.flat().map(({ state }) => state);
    };
    const { stderr, ...failure } = await run(`sessions end ${end}`);
    expect(failure).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(question);
    expect(stderr).toMatch(/ Add --yes to confirm\.\n$/);
    expect(await state()).toEqual(['live', 'live', 'live']);
    const done = { code: 0, stdout: expect.stringMatching(/ has ended\.\n$/) };
    expect(await run(`--yes sessions end ${end}`)).toMatchObject(done);
    expect(await state()).toEqual(states);
  });

  it.each([
    ['list', 2],
    ['end', 2],
    ['end no --user nobody', 2],
    ['end nobody', 1],
    ['end --user nobody', 1],
    ['end --client nobody', 1],
  ])('sessions %s fails with exit code %i', async (words, code) => {
    expect(await run(`--yes sessions ${words}`)).toMatchObject({ code, stdout: '' });
  });
});
