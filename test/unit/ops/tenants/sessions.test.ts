import { afterAll, describe, expect, it } from 'vitest';
import { makeSessionStore } from '../../../../lambdas/auth/sessions/session-store.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { startOperatedTables } from '../../../support/operated-tables.ts';

const operated = await startOperatedTables();
afterAll(() => operated.stop());

const list = async (...args: string[]) => {
  const { code, stdout, stderr } = await operated.run('--json', 'sessions', 'list', ...args);
  return { code, ids: JSON.parse(stdout || '[]').map(({ sessionId }: { sessionId: string }) => sessionId), stderr };
};
const createClient = async (): Promise<string> =>
  (await operated.ask(['clients', 'create', '--name', 'Acme', '--grant', 'password', '--any-account'])).clientId;

/** Stores a session that began through a client; its user does not exist. */
const begin = async (clientId: string, sessionId: string) => {
  const now = Date.now();
  await makeSessionStore({ ...systemTime, dynamo: operated.database.dynamo, table: 'Sessions' }).createSession({
    sessionId,
    clientId,
    userId: sessionId.split('-')[0] ?? '',
    accountId: 'acme',
    userVersion: 1,
    clientVersion: 1,
    scope: 'webhooks:read',
    counter: 1,
    keyId: 'key',
    createdAt: now,
    rotatedAt: now,
    idleExpiresAt: now + 60_000,
    absoluteExpiresAt: now + 60_000,
  });
};

describe('ops sessions list of a client', () => {
  it('goes on after a session of that client, also after one that is deleted by now', async () => {
    const client = await createClient();
    await begin(client, 'user1-a');
    await begin(client, 'user1-c');
    const more = (after: string) => list('--client', client, '--all', '--after', after);
    expect(await more('user1-a')).toMatchObject({ code: 0, ids: ['user1-c'] });
    expect(await more('user1-b')).toMatchObject({ code: 0, ids: ['user1-c'] });
  });

  it('refuses to go on after what is no session of that client, where the list looked empty', async () => {
    const [client, other] = [await createClient(), await createClient()];
    await begin(client, 'user2-a');
    await begin(other, 'user2-b');
    for (const after of ['junk', 'user2-b']) {
      const { code, stderr } = await list('--client', client, '--all', '--after', after);
      expect(code).toBe(1);
      expect(JSON.parse(stderr).error).toBe(
        `"${after}" is no session of that client: --after takes the last one that was shown.`,
      );
    }
  });
});
