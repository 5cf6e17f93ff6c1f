import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { matchingSecret, parseClient } from '../../../../lambdas/auth/principals/client.ts';
import { clientLimitKey } from '../../../../lambdas/auth/protection/rate-limit.ts';
import { randomId } from '../../../../lambdas/platform/identifiers.ts';
import { makeClientStore } from '../../../../ops/stores/client-store.ts';
import { startOperatedTables } from '../../../support/operated-tables.ts';

// A client has one or two valid secrets (docs/tokens.md). Only `disable`, `delete` and a change of account end its sessions.

const operated = await startOperatedTables();
afterAll(() => operated.stop());
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const { json, run, createClient } = operated;
const stored = async (clientId: string) => parseClient(await operated.item('Clients', { clientId }));
const rotate = (clientId: string, options = '') => json(`clients rotate-secret ${clientId}${options}`);
const accepts = async (clientId: string, ...secrets: readonly string[]) => {
  const client = await stored(clientId);
  return secrets.map(secret => matchingSecret(client, secret, Date.now()) !== undefined);
};
const pass = (milliseconds: number) => void vi.setSystemTime(Date.now() + milliseconds);

it('ops clients create creates a client with the default settings, and shows its secret once', async () => {
  const { code, stdout } = await run('clients create --name Shop --grant password --account acme');
  const [, clientId = ''] = /client_id +(\w{22})\n/.exec(stdout) ?? [];
  const [, secret = ''] = /client_secret +(\w{43})\n/.exec(stdout) ?? [];
  expect([code, stdout]).toEqual([0, expect.stringMatching(/\n\nThe secret is shown only once\. /)]);
  expect(await json(`clients show ${clientId}`)).toMatchObject({
    ...{ name: 'Shop', grants: ['password'], scopes: ['webhooks:read', 'webhooks:manage'], accountId: 'acme' },
    ...{ graceSeconds: 30, introspect: false, status: 'enabled' },
  });
  expect(await accepts(clientId, secret, `${secret}x`)).toEqual([true, false]);
  const output = [await run(`clients show ${clientId}`), await run('clients list'), await operated.items('Clients')];
  expect(JSON.stringify(output)).not.toContain(secret);
  expect(output[1]).toMatchObject({
    stdout: expect.stringMatching(`${clientId} +Shop +password +acme +30 s +enabled`),
  });
});

it('ops clients create succeeds if the SDK repeats the write after a lost response', async () => {
  const { database } = operated;
  const store = makeClientStore({ dynamo: database.dynamo, table: 'Clients', now: Date.now, makeId: randomId });
  database.repeatNext('PutItemCommand');
  const { client, clientSecret } = await store.createClient({ name: 'C', grants: [] });
  expect(await accepts(client.clientId, clientSecret)).toEqual([true]);
});

it('ops clients list lists all clients by name, or each client once in pages', async () => {
  for (const name of ['B', 'A']) await createClient(name);
  const all: { clientId: string; name: string }[] = await json('clients list');
  expect(all.map(({ name }) => name)).toEqual(all.map(({ name }) => name).sort());
  const paged: string[] = [];
  for (let after = ''; ; after = ` --after ${paged.at(-1)}`) {
    const page: typeof all = await json(`clients list --limit 2${after}`);
    if (page.length === 0) break;
    paged.push(...page.map(({ clientId }) => clientId));
  }
  expect(paged.toSorted()).toEqual(all.map(({ clientId }) => clientId).toSorted());
});

describe('a change of a client', () => {
  it.each([
    ['update --name D', { name: 'D' }, 0],
    ['update --scope webhooks:read --grace-seconds 5', { scopes: ['webhooks:read'], graceSeconds: 5 }, 0],
    ['update --grant refresh_token --introspect', { grants: ['refresh_token'], introspect: true }, 0],
    ['update --account other', { accountId: 'other' }, 1],
    ['update --account acme', {}, 0],
    ['update --no-account', { accountId: null }, 1],
    ['rotate-secret', {}, 0],
    ['disable', { status: 'disabled' }, 1],
    ['enable', {}, 0],
  ])('%s changes only the requested settings, and ends sessions only if required', async (words, changes, ended) => {
    const { clientSecret: _, ...client } = await createClient('C', '--account=acme');
    const before = await stored(client.clientId);
    pass(1);
    const [verb = '', ...options] = words.split(' ');
    await json('clients', verb, client.clientId, ...options);
    const { updatedAt, secrets } = await json(`clients show ${client.clientId}`);
    const expected = { ...client, ...changes, updatedAt, secrets };
    expect(await json(`clients show ${client.clientId}`)).toEqual(expected);
    expect(((await stored(client.clientId))?.version ?? 0) - (before?.version ?? 0)).toBe(ended);
  });

  it.each([
    ['disable', /^This disables client \w+ \(Asked\) of .* and permanently ends its sessions\./],
    ['delete', /^This permanently deletes client \w+ \(Asked\) /],
    ['update --account other', /^This changes the account of client \w+ \(Asked\) .* and ends its sessions\./],
    ['rotate-secret --overlap-seconds 0', /^This immediately revokes all current secrets of client \w+ \(Asked\)\./],
    ['rotate-secret --drop-oldest', /^This revokes the older of the two secrets of client \w+ \(Asked\)\./],
    ['rotate-secret --drop-newest', /^This revokes the newer of the two secrets of client \w+ \(Asked\)\./],
  ])('%s fails without --yes, and has no effect', async (words, question) => {
    const { clientId } = await createClient('Asked');
    await rotate(clientId);
    const before = await stored(clientId);
    const [verb = '', ...options] = words.split(' ');
    const { stderr, ...failure } = await run('clients', verb, clientId, ...options);
    expect(failure).toEqual({ code: 1, stdout: '' });
    const [, consequences] = /^error: (.*) There is no terminal\. Add --yes to confirm\.\n$/.exec(stderr) ?? [];
    expect(consequences).toMatch(question);
    expect(await stored(clientId)).toEqual(before);
  });

  it.each(['--no-account', '--name New'])(
    'update %s needs no confirmation for a client without an account',
    async options => {
      const { clientId } = await createClient();
      expect(await run(`clients update ${clientId} ${options}`)).toMatchObject({ code: 0, stderr: '' });
    },
  );

  it.each(['show', 'update --name X', 'enable', 'disable', 'delete', 'rotate-secret'])(
    '%s reports an unknown id',
    async words => {
      const [verb = '', ...options] = words.split(' ');
      const stderr = 'error: There is no client "nobody". "clients list" shows all clients.\n';
      const failure = { code: 1, stdout: '', stderr };
      expect(await run('--yes', 'clients', verb, 'nobody', ...options)).toEqual(failure);
    },
  );
});

it('ops clients delete deletes the client and its count of failed logins', async () => {
  const { clientId } = await createClient();
  const { key } = clientLimitKey('Lockouts', clientId);
  await operated.put('Lockouts', { ...key, count: 1, endsAt: 1 });
  expect(await json(`clients delete ${clientId}`)).toEqual({ clientId, deleted: true });
  expect([await stored(clientId), await operated.item('Lockouts', key)]).toEqual([undefined, undefined]);
});

describe('ops clients rotate-secret', () => {
  const overlap = ' --overlap-seconds 60';
  const create = async () => {
    const { clientId, clientSecret } = await createClient();
    return { clientId, first: clientSecret };
  };

  it('keeps the previous secret valid for the overlap, and rejects a third secret', async () => {
    const { clientId, first } = await create();
    const { clientSecret: second } = await rotate(clientId, overlap);
    pass(58_000);
    expect(await accepts(clientId, first, second)).toEqual([true, true]);
    const both = /If the newer secret is not in use, .*--drop-newest.*--drop-oldest.*--overlap-seconds 0/;
    const failure = { code: 1, stdout: '', stderr: expect.stringMatching(both) };
    expect(await run(`clients rotate-secret ${clientId}`)).toEqual(failure);
    expect((await run(`clients show ${clientId}`)).stdout).toMatch(/valid until 20/);
    const { clientSecret: third } = await rotate(clientId, ' --drop-oldest');
    expect(await accepts(clientId, first, second, third)).toEqual([false, true, true]);
    pass(86_400_000);
    expect(await accepts(clientId, first, second, third)).toEqual([false, false, true]);
  });

  it('--drop-newest replaces a lost secret, and restarts the overlap of the older one', async () => {
    const { clientId, first } = await create();
    const { clientSecret: lost } = await rotate(clientId, overlap);
    pass(58_000);
    const { clientSecret: found } = await rotate(clientId, `${overlap} --drop-newest`);
    expect((await operated.trail())[0]).toMatchObject({
      ...{ command: 'clients rotate-secret', target: { client: clientId }, outcome: 'done' },
      change: { overlapSeconds: 60, dropNewest: true },
    });
    pass(58_000);
    expect(await accepts(clientId, first, lost, found)).toEqual([true, false, true]);
    pass(3_000);
    expect(await accepts(clientId, first, lost, found)).toEqual([false, false, true]);
    const before = await stored(clientId);
    const stderr = expect.stringMatching(/^error: Client "\w+" has only one valid secret, .*without --drop-newest/);
    const failure = { code: 1, stdout: '', stderr };
    expect(await run(`--yes clients rotate-secret ${clientId} --drop-newest`)).toEqual(failure);
    expect(await stored(clientId)).toEqual(before);
  });

  it('--drop-oldest reports that the only secret stays valid', async () => {
    const { clientId } = await create();
    const { stderr } = await run(`clients rotate-secret ${clientId} --drop-oldest`);
    expect(stderr).toMatch(
      /^error: This adds a secret to client \w+ \(Acme\)\. The client has only one secret, which stays valid\. There is no terminal/,
    );
  });

  it('--overlap-seconds 0 immediately revokes all other secrets', async () => {
    const { clientId, first } = await create();
    const { clientSecret: second } = await rotate(clientId);
    const { clientSecret: third, secrets } = await rotate(clientId, ' --overlap-seconds 0');
    expect(await accepts(clientId, first, second, third)).toEqual([false, false, true]);
    expect(secrets).toHaveLength(1);
  });

  it('shows only the secret that is valid after concurrent rotations', async () => {
    const { clientId } = await create();
    const rotations = await Promise.allSettled([1, 2, 3].map(() => rotate(clientId)));
    const newSecrets = rotations.flatMap(one => (one.status === 'fulfilled' ? [one.value.clientSecret] : []));
    expect([newSecrets.length, await accepts(clientId, ...newSecrets)]).toEqual([1, [true]]);
    const reasons = rotations.flatMap(one => (one.status === 'rejected' ? [String(one.reason)] : []));
    for (const reason of reasons) expect(reason).toMatch(/exited with 1: .*(at the same time|two valid secrets)/);
  });
});
