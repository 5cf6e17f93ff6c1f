import { beforeAll, describe, expect, it } from 'vitest';
import { createClient, logIn, passwordGrant, postToken, unique } from '../support/e2e-accounts.ts';
import { ops, runOps } from '../support/e2e-ops.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { describeWith, plant, run } from '../support/e2e-target.ts';
import { openSession, register } from '../support/e2e-webhooks.ts';

const here = (...args: string[]) => runOps(['--outputs', run.outputsFile, ...args]);

describe('ops clients', () => {
  it('creates, lists, disables and enables a client', async () => {
    const name = `ops ${unique()}`;
    const args = [
      'clients',
      'create',
      '--name',
      name,
      '--grant',
      'password',
      '--account',
      'acme',
      '--grace-seconds',
      '5',
    ];
    const created = await ops<Record<string, string>>(args);
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

    const third = await rotate('--overlap-seconds', '0');
    plant(third.clientSecret);
    const secrets = [client.clientSecret, second.clientSecret, third.clientSecret];
    expect(await Promise.all(secrets.map(statusWith))).toEqual([401, 401, 200]);
  });
});

describe('ops users', () => {
  const email = `${unique()}@e2e.example.com`;
  const password = plant(`  Senha ${unique()}  `);

  beforeAll(async () => {
    const args = ['users', 'create', '--email', ` ${email.toUpperCase()} `, '--account', 'acme', '--role', 'member'];
    const created = await ops<object>(args, `${password}\n`);
    expect(created).toMatchObject({ email, accountId: 'acme', role: 'member', status: 'enabled' });
    expect(Object.keys(created)).not.toContain('passwordHash');
  });

  it('creates users who can log in, with the password exactly as it was given', async () => {
    const client = await createClient();
    await logIn(client, { userId: '', email, account: 'acme', password });
    expect((await postToken(passwordGrant(client, { email, password: password.trim() }))).status).toBe(400);
  });

  it('lists them', async () => {
    const users = await ops<{ email: string }[]>(['users', 'list']);
    expect(users.find(user => user.email === email)).toMatchObject({ role: 'member' });
    expect((await here('users', 'list')).stdout).toMatch(new RegExp(`${email} +acme +member +enabled`));
  });

  it('knows them by e-mail address and by id', async () => {
    const changed = await ops<{ userId: string }>(['users', 'set-role', email, 'admin']);
    expect(changed).toMatchObject({ role: 'admin' });
    expect(await ops(['users', 'disable', changed.userId])).toMatchObject({ status: 'disabled' });
    expect(await ops(['users', 'enable', changed.userId])).toMatchObject({ status: 'enabled' });
  });

  it('has one user per e-mail address', async () => {
    const args = [
      '--outputs',
      run.outputsFile,
      'users',
      'create',
      '--email',
      email,
      '--account',
      'a',
      '--role',
      'admin',
    ];
    const refused = await runOps(args, { input: 'x' });
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^error: .*exists already\.\n$/);
  });

  it('warns of a short password, and takes it', async () => {
    const args = ['users', 'set-password', email];
    const short = await runOps(['--outputs', run.outputsFile, ...args], { input: 'sete-çã'.normalize('NFD') });
    expect(short).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: .*shorter than 8 characters/) });
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
