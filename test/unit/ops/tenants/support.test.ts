import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { localTarget } from '../../../../ops/stage/target.ts';
import { openSupport } from '../../../../ops/tenants/support.ts';
import { listen } from '../../../../tools/support/listen.ts';
import { fail, startOperatedTables } from '../../../support/operated-tables.ts';
import { aTask, unread } from '../a-task.ts';

const hour = 3_600_000;
const ownLogins = [['ERP'], ['ana@acme.example']];

const operated = await startOperatedTables();
const outputs = { ...operated.outputs, AuthUrl: 'http://127.0.0.1:1', BaseUrl: 'http://127.0.0.1:2' };
beforeAll(async () => {
  await operated.createClient('ERP', '--account=acme');
  await operated.createUser('acme', 'ana@acme.example');
});
afterAll(() => operated.stop());

const logins = async (): Promise<[string[], string[]]> => [
  (await operated.json('clients list')).map(({ name }: { name: string }) => name),
  (await operated.json('users list')).map(({ email }: { email: string }) => email),
];

/** Opens the console of account acme, `ago` milliseconds ago. @param whileOpen - replaces the one-hour pause. */
const support = (
  whileOpen: (milliseconds: number) => Promise<void>,
  { ago = 0, onOpen = (_makeLink: () => string) => {} } = {},
) => {
  const target = localTarget(outputs);
  const now = () => Date.now() - ago;
  const at = { ...target, clock: { ...target.clock, now }, time: { ...target.time, now }, pause: whileOpen };
  const { signal: interruption } = new AbortController();
  return openSupport({ ...aTask(at), ...unread }, { account: 'acme', port: 0, interruption, onOpen });
};

it('creates a read-only client and user of the account for an hour, then deletes both', async () => {
  const links: string[] = [];
  const before = Date.now();
  await support(
    async milliseconds => {
      expect(milliseconds).toBe(hour);
      const [, { clientId }] = await operated.json('clients list');
      const { secrets, ...client } = await operated.json(`clients show ${clientId}`);
      expect(client).toMatchObject({ accountId: 'acme', scopes: ['webhooks:read'], grants: ['password'] });
      const lifetime = Date.parse(secrets[0].expiresAt) - before;
      expect(lifetime).toBeGreaterThanOrEqual(hour);
      expect(lifetime).toBeLessThanOrEqual(Date.now() - before + hour);
      expect((await logins())[1]).toContainEqual(expect.stringMatching(/^[0-9a-z]{22}@support\.invalid$/));
    },
    { onOpen: makeLink => links.push(makeLink(), makeLink()) },
  );
  expect(links).toEqual(Array(2).fill(expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/)));
  expect(new Set(links).size).toBe(2);
  expect(await logins()).toEqual(ownLogins);
});

it('deletes the client and the user if it is interrupted or fails', async () => {
  await support(() => Promise.reject(new Error('aborted')));
  expect(await logins()).toEqual(ownLogins);
  await expect(support(async () => {}, { onOpen: fail })).rejects.toThrow('half-way');
  expect(await logins()).toEqual(ownLogins);
});

it('deletes the client if the user cannot be created', async () => {
  const { code } = await operated.under({ outputs, before: ['TransactWrite', 1, fail] }).run('support', 'acme');
  expect([code, await logins()]).toEqual([1, ownLogins]);
});

it('deletes the login of a killed process but not the login of another operator', async () => {
  const countLogins = async () => (await logins()).map(({ length }) => length);
  await support(
    () =>
      support(async () => {
        expect(await countLogins()).toEqual([2, 2]);
        await support(async () => expect(await countLogins()).toEqual([3, 3]));
      }),
    { ago: hour + 1_000 },
  );
  expect(await logins()).toEqual(ownLogins);
});

it.each([
  ['an account that does not exist', ['nobody'], /^error: There is no account "nobody"/],
  ['a port that is in use', ['acme'], /^error: Could not use port \d+ \(EADDRINUSE\)/],
])('rejects %s, writes an audit line, and creates no login', async (_case, words, why) => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const port = `${await listen(server)}`;
  const failure = { code: 1, stdout: '', stderr: expect.stringMatching(why) };
  expect(await operated.under({ outputs }).run('support', ...words, '--port', port)).toEqual(failure);
  const [line] = await operated.trail();
  expect(line).toMatchObject({ command: 'support', target: { account: words[0] }, outcome: 'failed' });
  expect(await logins()).toEqual(ownLogins);
});
