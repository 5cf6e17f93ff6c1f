import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hash as bcrypt } from 'bcryptjs';
import { expect, it, onTestFinished } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { passwordGrant, refreshGrant } from '../../tools/support/service-client.ts';
import { ops } from '../support/e2e-ops.ts';
import { startReceiver } from '../support/e2e-receiver.ts';
import {
  createClient,
  createUser,
  deliveryId,
  getTokens,
  logIn,
  newAccount,
  openSession,
  postForm,
  register,
  send,
  untilSettled,
} from '../support/e2e-service.ts';
import { describeWith, registerSecret, until } from '../support/e2e-target.ts';

// test/unit/ops tests the commands. These tests check the effects of the commands on the service.

const evento = 'demanda.criada';

it('after a rotation, the new and previous secrets work, or only the new secret with --overlap-seconds 0', async () => {
  const [client, user] = await Promise.all([createClient(), createUser()]);
  const rotate = async (...options: string[]) => {
    const args = ['clients', 'rotate-secret', client.clientId, ...options];
    return registerSecret((await ops<{ clientSecret: string }>(args)).clientSecret);
  };
  const statusesWith = (...secrets: readonly string[]) =>
    Promise.all(
      secrets.map(
        async clientSecret => (await postForm('token', passwordGrant({ ...client, clientSecret }, user))).status,
      ),
    );
  const second = await rotate();
  expect(await statusesWith(client.clientSecret, second)).toEqual([200, 200]);
  const third = await rotate('--drop-newest');
  expect(await statusesWith(client.clientSecret, second, third)).toEqual([200, 401, 200]);
  const last = await rotate('--overlap-seconds', '0');
  expect(await statusesWith(client.clientSecret, second, third, last)).toEqual([401, 401, 401, 200]);
  expect(await ops(['clients', 'delete', client.clientId])).toMatchObject({ deleted: true });
  expect(await statusesWith(last)).toEqual([401]);
});

it('an operator can end one session without ending the other sessions of the user', async () => {
  const [client, user] = await Promise.all([createClient(), createUser()]);
  const [one, other] = [await logIn(client, user), await logIn(client, user)];
  await ops(['sessions', 'end', one.refresh_token.split('.')[0] ?? '']);
  expect((await postForm('token', refreshGrant(client, one.refresh_token))).status).toBe(400);
  await getTokens(refreshGrant(client, other.refresh_token));
  expect(await ops<object[]>(['sessions', 'list', '--user', user.email])).toHaveLength(1);
});

it('a user logs in with the exact password, including spaces, or with the password of an imported hash', async () => {
  const client = await createClient();
  const own = { email: `${unique()}@e2e.example.com`, password: registerSecret(`  Senha ${unique()}  `) };
  const args = ['users', 'create', '--email', own.email, '--account', 'acme', '--role', 'member'];
  await ops(args, `${own.password}\n`);
  await getTokens(passwordGrant(client, own));
  expect((await postForm('token', passwordGrant(client, { ...own, password: own.password.trim() }))).status).toBe(400);

  const folder = await mkdtemp(path.join(tmpdir(), 'emissor-import-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const imported = { email: `${unique()}@example.com`, password: registerSecret(`pa ss+é ${unique()}`) };
  const password_hash = registerSecret(await bcrypt(imported.password, 6));
  const file = path.join(folder, 'users.ndjson');
  await writeFile(file, JSON.stringify({ email: imported.email, account: 'acme', role: 'admin', password_hash }));
  for (const created of [1, 0]) {
    expect(await ops(['users', 'import', file])).toMatchObject({ created });
    await getTokens(passwordGrant(client, imported)); // the second login uses the hash that replaced the imported hash
  }
  expect((await postForm('token', passwordGrant(client, { ...imported, password: 'wrong' }))).status).toBe(400);
});

interface FindResult {
  readonly verdict: string;
  readonly why: string;
}

/** Finds an event, and retries, because the log becomes searchable shortly after the service processes the event. */
const findEvent = (...reference: string[]) =>
  until(`a verdict on ${reference.join(' ')}`, async () => {
    const result = await ops<FindResult>(['events', 'find', ...reference]);
    return result.verdict === 'unknown' ? undefined : result;
  });

/** Returns the output of a `dlq` command, and retries, because other readers of the queue may temporarily hide the message. */
const onceVisible = (...words: string[]) =>
  until(`dlq ${words.join(' ')}`, () => ops<object>(['dlq', ...words]).catch(() => undefined));

describeWith(['names'], 'an event that an operator publishes', () => {
  it('is delivered, and `events find` returns it for each of its ids', async () => {
    const receiver = await startReceiver('ops');
    onTestFinished(() => receiver.stop());
    const session = await openSession(await createClient());
    const { account } = session.user;
    await register(session, { evento: 'proposta.contratada', url: receiver.url('/published') });
    const event = ['--account', account, '--event', 'proposta.contratada', '--id', 'a1'];
    const published = await ops<Record<'deliveryId' | 'messageId', string>>([
      ...['publish', ...event, '--demand', '42', '--proposal', '7'],
    ]);
    const [delivery] = await receiver.waitFor('/published', 1);
    expect(delivery?.headers['webhook-id']).toBe(published.deliveryId);
    expect(JSON.parse(delivery?.body ?? '')).toMatchObject({ id_demanda: 42, id_proposta: 7 });
    await untilSettled(published.deliveryId);
    for (const reference of [[published.deliveryId], event, [published.messageId]])
      expect(await findEvent(...reference)).toMatchObject({ verdict: 'delivered', ...published });
  });
});

describeWith(['engines'], 'an event without a delivery', () => {
  it('has the verdict "no webhook" or "rejected" from the log', async () => {
    const account = newAccount();
    const messageId = await send(
      JSON.stringify({ id_conta: account, event: evento, id_demanda: 1, id: 'nobody' }),
      account,
    );
    const event = ['--account', account, '--event', evento];
    for (const reference of [[...event, '--id', 'nobody'], [messageId]])
      expect(await findEvent(...reference)).toMatchObject({ verdict: 'no webhook', messageId });

    const rejected = await send(JSON.stringify({ id_conta: account, event: evento, id: 'bad' }), account);
    const why = expect.stringMatching(/as malformed \(id_demanda: /);
    const rejection = { verdict: 'rejected', why, messageId: rejected, deliveryId: deliveryId(account, evento, 'bad') };
    expect(await findEvent(rejected)).toMatchObject(rejection);
    await until('its line in the log', async () => {
      const { why } = await findEvent(rejected);
      return why.includes(`"dlq show ${rejected}`) || undefined;
    });
    const expected = { reason: 'malformed', detail: expect.stringMatching(/^id_demanda/), sender: expect.any(String) };
    expect(await onceVisible('show', rejected)).toMatchObject({ messageId: rejected, ...expected, copies: 1 });
    expect(await onceVisible('discard', rejected)).toEqual({ discarded: 1 });
    await expect(ops(['dlq', 'show', rejected])).rejects.toThrow(rejected);
    await send(JSON.stringify({ id_conta: account, event: 'demanda.inventada', id_demanda: 1, id: 'x' }), account);
    expect(await findEvent('--account', account, '--event', 'demanda.inventada', '--id', 'x')).toMatchObject({
      verdict: 'rejected',
      why: expect.stringContaining('as unknown_event'),
    });
  });
});
