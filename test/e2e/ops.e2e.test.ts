import { beforeAll, describe, expect, it } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { passwordGrant, refreshGrant, type Tokens } from '../../tools/support/service-client.ts';
import { createClient, createUser, getTokens, logIn, postToken } from '../support/e2e-accounts.ts';
import { ops, runOps } from '../support/e2e-ops.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { describeWith, plant, run } from '../support/e2e-target.ts';
import { openSession, register } from '../support/e2e-webhooks.ts';

const here = (...args: string[]) => runOpsInProcess(['--outputs', run.outputsFile, ...args]);

describe('ops clients', () => {
  it('creates, lists, disables and enables a client', async () => {
    const name = `ops ${unique()}`;
    const options = ['--grant', 'password', '--account', 'acme', '--grace-seconds', '5'];
    const created = await ops<Record<string, string>>(['clients', 'create', '--name', name, ...options]);
    plant(created.clientSecret ?? '');
    expect(created).toMatchObject({
      name,
      grants: ['password'],
      accountId: 'acme',
      graceSeconds: 5,
      status: 'enabled',
    });
    expect(created.clientId).toMatch(/^[A-Za-z0-9]+$/);
    expect(created.clientSecret).toMatch(/^[A-Za-z0-9]{43,}$/);

    const listed = await here('clients', 'list');
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout).toMatch(new RegExp(`${created.clientId} +${name} +password +acme +5 s +enabled`));
    expect(listed.stdout).not.toContain(created.clientSecret);

    expect(await ops(['clients', 'disable', created.clientId ?? ''])).toMatchObject({ status: 'disabled' });
    expect(await ops(['clients', 'enable', created.clientId ?? ''])).toMatchObject({ status: 'enabled' });
  });

  it('rotates a secret: the previous one works on for as long as it was told to', async () => {
    const [client, { user }] = await createClient().then(async made => [made, await openSession(made)] as const);
    const rotate = (...more: string[]) =>
      ops<{ clientSecret: string }>(['clients', 'rotate-secret', client.clientId, ...more]);
    const statusWith = async (clientSecret: string) =>
      (await postToken(passwordGrant({ ...client, clientSecret }, user))).status;

    const second = await rotate();
    plant(second.clientSecret);
    expect(await Promise.all([client.clientSecret, second.clientSecret].map(statusWith))).toEqual([200, 200]);

    const refused = await here('clients', 'rotate-secret', client.clientId);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/two secrets .*--drop-newest.*--drop-oldest/);
    expect((await here('clients', 'show', client.clientId)).stdout).toMatch(/works until 20/);
    expect(await here('clients', 'rotate-secret', client.clientId, '--overlap-seconds', '0')).toMatchObject({
      code: 1,
      stdout: '',
    });

    const third = await rotate('--drop-newest');
    plant(third.clientSecret);
    const secrets = [client.clientSecret, second.clientSecret, third.clientSecret];
    expect(await Promise.all(secrets.map(statusWith))).toEqual([200, 401, 200]);

    const last = await rotate('--overlap-seconds', '0', '--yes');
    plant(last.clientSecret);
    expect(await Promise.all([...secrets, last.clientSecret].map(statusWith))).toEqual([401, 401, 401, 200]);
  });

  it('deletes a client after it was told so, with its sessions', async () => {
    const client = await createClient();
    const user = await createUser();
    await logIn(client, user);
    expect(await here('clients', 'delete', client.clientId)).toMatchObject({ code: 1, stdout: '' });
    expect(await ops(['clients', 'delete', client.clientId])).toMatchObject({ deleted: true });
    expect((await postToken(passwordGrant(client, user))).status).toBe(401);
    expect(await ops(['sessions', 'list', '--user', user.email])).toEqual([]);
    expect(await here('clients', 'show', client.clientId)).toMatchObject({ code: 1, stdout: '' });
  });
});

describe('what ends sessions or cannot be undone', () => {
  const message = '00000000-0000-4000-8000-000000000000';
  it.each([
    ['clients disable', ({ clientId }) => ['clients', 'disable', clientId]],
    ['clients update --account', ({ clientId }) => ['clients', 'update', clientId, '--account', 'another']],
    ['clients rotate-secret --drop-oldest', ({ clientId }) => ['clients', 'rotate-secret', clientId, '--drop-oldest']],
    [
      'clients rotate-secret --overlap-seconds 0',
      ({ clientId }) => ['clients', 'rotate-secret', clientId, '--overlap-seconds', '0'],
    ],
    ['clients delete', ({ clientId }) => ['clients', 'delete', clientId]],
    ['users disable', ({ email }) => ['users', 'disable', email]],
    ['users delete', ({ email }) => ['users', 'delete', email]],
    ['sessions end', ({ sessionId }) => ['sessions', 'end', sessionId]],
    ['sessions end --user', ({ email }) => ['sessions', 'end', '--user', email]],
    ['sessions end --client', ({ clientId }) => ['sessions', 'end', '--client', clientId]],
    ['keys rotate --revoke', () => ['keys', 'rotate', '--revoke']],
    ['dlq discard', () => ['dlq', 'discard', message]],
  ] satisfies [string, (of: Asked) => string[]][])('%s is refused without a terminal and --yes', async (_, argsOf) => {
    const [client, user] = await Promise.all([createClient(), createUser()]);
    const { refresh_token } = await logIn(client, user);
    const sessionId = refresh_token.split('.')[0] ?? '';
    const refused = await here(...argsOf({ clientId: client.clientId, email: user.email, sessionId }));
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/add --yes\.\n$/) });
    await getTokens(refreshGrant(client, refresh_token));
  });

  it('is asked by no other command, and --yes is taken by all', async () => {
    const { clientId } = await createClient();
    expect(await here('clients', 'update', clientId, '--name', 'New')).toMatchObject({ code: 0 });
    expect(await here('clients', 'update', clientId, '--no-account')).toMatchObject({ code: 0 }); // it had none
    expect(await here('clients', 'enable', clientId, '--yes')).toMatchObject({ code: 0 });
    expect(await here('--yes', 'clients', 'list')).toMatchObject({ code: 0 });
  });
});

/** The subjects of the commands that ask. */
interface Asked {
  readonly clientId: string;
  readonly email: string;
  readonly sessionId: string;
}

describe('ops sessions', () => {
  it('lists live sessions of a user and of a client, page by page, and ends one', async () => {
    const [client, user] = await Promise.all([createClient(), createUser()]);
    const [one, other] = [await logIn(client, user), await logIn(client, user)];
    const idOf = ({ refresh_token }: Tokens) => refresh_token.split('.')[0] ?? '';
    const list = (...more: string[]) => ops<{ sessionId: string; state: string }[]>(['sessions', 'list', ...more]);
    const ids = async (...more: string[]) => (await list(...more)).map(({ sessionId }) => sessionId).toSorted();
    const both = [one, other].map(idOf).toSorted();
    expect(await ids('--user', user.email)).toEqual(both);
    expect(await ids('--client', client.clientId)).toEqual(both);
    const [first = ''] = await ids('--user', user.userId, '--limit', '1');
    expect([first, ...(await ids('--user', user.userId, '--after', first))].toSorted()).toEqual(both);

    expect(await ops(['sessions', 'end', idOf(one)])).toMatchObject({ state: 'ended' });
    expect((await postToken(refreshGrant(client, one.refresh_token))).status).toBe(400);
    await getTokens(refreshGrant(client, other.refresh_token));
    expect(await ids('--user', user.email, '--client', client.clientId)).toEqual([idOf(other)]);
    expect(await ids('--user', user.email, '--all')).toEqual(both);
  });

  it('wants to know whose', async () => {
    expect(await here('sessions', 'list')).toMatchObject({ code: 2, stdout: '' });
    expect(await here('sessions', 'end')).toMatchObject({ code: 2, stdout: '' });
    expect(await here('sessions', 'end', 'nobody')).toMatchObject({ code: 1, stdout: '' });
    expect(await here('sessions', 'end', 'no', '--user', 'nobody')).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('ops users', () => {
  const email = `${unique()}@e2e.example.com`;
  const password = plant(`  Senha ${unique()}  `);

  beforeAll(async () => {
    const args = ['users', 'create', '--email', ` ${email.toUpperCase()} `, '--account', 'acme', '--role', 'member'];
    const { code, stdout } = await runOps(['--outputs', run.outputsFile, '--json', ...args], `${password}\n`);
    expect(code).toBe(0);
    const created = JSON.parse(stdout);
    expect(created).toMatchObject({ email, accountId: 'acme', role: 'member', status: 'enabled' });
    expect(Object.keys(created)).not.toContain('passwordHash');
  });

  it('creates users who can log in, with the password exactly as it was given', async () => {
    const client = await createClient();
    await logIn(client, { userId: '', email, account: 'acme', password });
    expect((await postToken(passwordGrant(client, { email, password: password.trim() }))).status).toBe(400);
  });

  it('has one user per e-mail address', async () => {
    const args = ['users', 'create', '--email', email, '--account', 'a', '--role', 'admin'];
    const refused = await runOpsInProcess(['--outputs', run.outputsFile, ...args], 'x'.repeat(15));
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^error: .*exists already.*\n$/);
  });
});

describe('ops webhooks', () => {
  it('suspends and reactivates, and says what becomes of the deliveries that were held', async () => {
    const session = await openSession(await createClient());
    const { account } = session.user;
    await register(session, { evento: 'demanda.criada', url: 'https://receiver.example.com/held' });
    const named = ['--account', account, '--event', 'demanda.criada'];
    expect(await ops(['webhooks', 'suspend', ...named])).toMatchObject({ status: 'suspenso' });
    const shown = await ops<object>(['webhooks', 'show', ...named]);
    expect(shown).toMatchObject({ host: 'receiver.example.com', status: 'suspenso', suspensionReason: 'operador' });
    expect(JSON.stringify(shown)).not.toContain('sealed');
    const replay = ['deliveries', 'replay', ...named, '--state', 'retida', '--since', '1h'];
    expect(await here(...replay)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is suspended \(operador\)/),
    });
    const { code, stdout } = await here('webhooks', 'reactivate', ...named);
    expect(code).toBe(0);
    expect(stdout).toContain(`deliveries list ${named.join(' ')} --state retida`);
    expect(stdout).toContain('deliveries resend ID');
    expect(stdout).toContain(`deliveries replay ${named.join(' ')} --state retida --since`);
    expect(stdout).toContain('POST /v1/webhooks/demanda.criada/reenvios');
    expect(await ops(['deliveries', 'list', ...named, '--state', 'retida'])).toEqual([]);
    expect(await ops(['deliveries', 'list', '--account', account])).toEqual([]);
  });
});

describeWith(['names'], 'ops publish', () => {
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await startReceiver('ops');
    return () => receiver.stop();
  });

  it('publishes what the webhook then receives', async () => {
    const session = await openSession(await createClient());
    await register(session, { evento: 'proposta.contratada', url: receiver.url('/published') });
    const args = ['publish', '--account', session.user.account, '--event', 'proposta.contratada'];
    const ids = ['--demand', '42', '--proposal', '7', '--id', 'a1'];
    const { deliveryId } = await ops<{ deliveryId: string }>([...args, ...ids]);
    const [delivery] = await receiver.waitFor('/published', 1);
    expect(delivery?.headers['webhook-id']).toBe(deliveryId);
    expect(JSON.parse(delivery?.body ?? '')).toMatchObject({ id_demanda: 42, id_proposta: 7 });
  });
});
