import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, it } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { documentClientOf } from '../../tools/support/engines.ts';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { passwordGrant } from '../../tools/support/service-client.ts';
import { createClient, createUser, logIn, postToken } from '../support/e2e-accounts.ts';
import { settled } from '../support/e2e-deliveries.ts';
import { ops } from '../support/e2e-ops.ts';
import { until } from '../support/e2e-poll.ts';
import { deliveryId, publish, sendDeadLetter } from '../support/e2e-queues.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { describeWith, outputs, run } from '../support/e2e-target.ts';
import { callApi, openSession, register } from '../support/e2e-webhooks.ts';

const evento = 'demanda.criada';
const here = (...args: string[]) => runOpsInProcess(['--outputs', run.outputsFile, ...args]);

/** Returns what the tables hold in which a text occurs. */
async function itemsWith(text: string): Promise<readonly string[]> {
  const client = documentClientOf(outputs);
  const found: string[] = [];
  for (const [name, TableName] of Object.entries(outputs)) {
    if (!name.endsWith('Table')) continue;
    for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true })) {
      found.push(...Items.map(item => `${name} ${JSON.stringify(item)}`).filter(item => item.includes(text)));
    }
  }
  return found;
}

describeWith(['names'], 'all that is kept of an account', () => {
  let folder: string;
  let receiver: Receiver;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'emissor-accounts-'));
    receiver = await startReceiver('accounts');
    return async () => {
      await receiver.stop();
      await rm(folder, { recursive: true });
    };
  });

  it('can be exported, and is gone from every table when it is deleted', async () => {
    const canary = `canary${unique()}`;
    const account = `${canary}-account`;
    const description = { account, email: `${canary}@example.com` };
    const [anyone, bound] = [await createClient(), await createClient('--grant', 'password', '--account', account)];
    const session = await openSession(anyone, description);
    await logIn(bound, session.user);
    await postToken(passwordGrant(anyone, { ...session.user, password: 'wrong' }));
    await ops(['users', 'set-email', session.user.userId, `second-${canary}@example.com`]);
    const neighbour = await openSession(anyone);

    await register(session, { evento, url: receiver.url(`/${canary}`), autorizacao: `Bearer ${canary}-secret` });
    receiver.script(`/${canary}`, { status: 500, body: `answer of ${canary}` }, { status: 410 }, { status: 200 });
    await publish(account, { event: evento, id_demanda: 7, id: canary });
    const id = deliveryId(account, evento, canary);
    expect(await settled(id)).toMatchObject({ state: 'retida' });
    await ops(['webhooks', 'reactivate', '--account', account, '--event', evento]);
    const call = (path: string, body?: unknown) =>
      callApi('POST', `/v1/webhooks/${evento}${path}`, {
        token: session.token,
        ...(body === undefined ? {} : { body }),
      });
    expect((await call('/teste')).status).toBe(202);
    expect((await call(`/entregas/${id}/reenvio`)).status).toBe(202);
    const range = {
      desde: new Date(Date.now() - 3_600_000).toISOString(),
      ate: new Date().toISOString(),
      estado: 'falhou',
    };
    for (let times = 0; times < 2; times++) {
      await until('a replay', async () => ((await call('/reenvios', range)).status === 202 ? true : undefined));
    }
    await ops(['webhooks', 'suspend', '--account', account, '--event', 'mensagem.recebida']);
    const before = await itemsWith(canary);
    expect(before.length).toBeGreaterThan(6);

    const file = path.join(folder, 'account.ndjson');
    expect(await ops(['accounts', 'export', account, '--out', file])).toMatchObject({
      ...{ clients: 1, users: 1, sessions: 2, webhooks: 2, deliveries: 2 },
    });
    const text = await readFile(file, 'utf8');
    const records = text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(records.map(({ type }) => type).sort()).toEqual([
      ...['client', 'delivery', 'delivery', 'replay', 'replay', 'secretUse', 'session', 'session'],
      ...['user', 'webhook', 'webhook'],
    ]);
    expect(records.find(record => record.id === id)).toMatchObject({ evento, corpo: expect.stringContaining('7') });
    expect(text).toContain(`answer of ${canary}`);
    expect(text).not.toMatch(/argon2|-secret|sealed|hash/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    const second = path.join(folder, 'second.ndjson');
    const had = JSON.stringify({ ...records.find(record => record.id === id), had: true });
    await writeFile(
      `${second}.${outputs.DeliveriesTable}.${account}.partial`,
      `${had}\n{"type":"delivery","id":"evt_cut`,
    );
    expect(await ops(['accounts', 'export', account, '--out', second])).toMatchObject({ users: 1, deliveries: 2 });
    const lines = (await readFile(second, 'utf8')).trim().split('\n');
    expect(lines[0]).toBe(had);
    expect(lines.map(line => JSON.parse(line).type).sort()).toEqual(records.map(({ type }) => type).sort());
    expect(new Set(lines.map(line => JSON.parse(line).id)).has('evt_cut')).toBe(false);
    expect((await readdir(folder)).filter(name => name.endsWith('.partial'))).toEqual([]);

    expect(await here('accounts', 'delete', account)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/add --yes/),
    });
    expect(await itemsWith(canary)).toHaveLength(before.length);
    await sendDeadLetter(JSON.stringify({ id_conta: account, event: 'demanda.inventada' }));
    // Other tests look at dead letters, too.
    const deleted = await ops<{ deadLetters: number; inHand: number }>(['accounts', 'delete', account]);
    expect(deleted).toMatchObject({ clients: 1, users: 1, sessions: 2, webhooks: 2 });
    expect(deleted.deadLetters + deleted.inHand).toBeGreaterThanOrEqual(1);
    expect(await itemsWith(canary)).toEqual([]);
    expect(await itemsWith(session.user.userId)).toEqual([]);
    expect(await itemsWith(bound.clientId)).toEqual([]);
    expect(await itemsWith(id)).toEqual([]);
    expect((await postToken(passwordGrant(anyone, session.user))).status).toBe(400);
    expect((await call('/teste')).status).toBe(401);
    expect((await callApi('GET', '/v1/webhooks', { token: neighbour.token })).status).toBe(200);

    const again = await here('accounts', 'delete', account, '--yes');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/there is nothing of account/) });
  });

  it('is deleted with all of many sessions', async () => {
    const client = await createClient();
    const user = await createUser();
    for (let login = 0; login < 60; login += 10)
      await Promise.all(Array.from({ length: 10 }, () => logIn(client, user)));
    expect(await ops(['accounts', 'delete', user.account])).toMatchObject({ users: 1, sessions: 60 });
    expect(await itemsWith(user.userId)).toEqual([]);
  });

  it('is not exported where there is nothing, or where the file cannot be written', async () => {
    const file = path.join(folder, 'nothing.ndjson');
    expect(await here('accounts', 'export', `nobody-${unique()}`, '--out', file)).toMatchObject({
      code: 1,
      stdout: '',
    });
    await expect(stat(file)).rejects.toThrow();
    await expect(stat(`${file}.partial`)).rejects.toThrow();
    const user = await createUser();
    const refused = await here('accounts', 'export', user.account, '--out', path.join(folder, 'no', 'folder'));
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/cannot be written \(ENOENT\)/) });
    expect(await here('accounts', 'export', user.account)).toMatchObject({ code: 2 });
  });
});
