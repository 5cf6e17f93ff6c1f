import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, describe, expect, it } from 'vitest';
import { type Delivery, settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeDeliveryStore } from '../../../../lambdas/delivery/store/delivery-store.ts';
import { randomId } from '../../../../lambdas/platform/identifiers.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import type { EventName } from '../../../../lambdas/webhooks/webhook.ts';
import { stageConfiguration } from '../../../../lib/config.ts';
import { openQueues } from '../../../../ops/stage/queues.ts';
import { openUsers } from '../../../../ops/stage/stores.ts';
import { localTarget } from '../../../../ops/stage/target.ts';
import { openAccountItems } from '../../../../ops/tenants/account-items.ts';
import { makeRecordReaders } from '../../../../ops/tenants/account-records.ts';
import { deleteAccount } from '../../../../ops/tenants/accounts.command.ts';
import { longestAttemptTimeout } from '../../../../ops/tenants/accounts.ts';
import { startOperatedTables } from '../../../support/operated-tables.ts';
import { aDelivery, aWebhook } from '../../delivery/builders.ts';
import { aTask, impatientTarget } from '../a-task.ts';

const operated = await startOperatedTables();
afterAll(() => operated.stop());

const password = 'a password of enough characters';
const newEmail = () => `${randomId(12).toLowerCase()}@example.com`;
const create = async (account: string, email = newEmail()) => {
  const args = ['users', 'create', '--email', email, '--account', account, '--role', 'admin'];
  const { userId }: { userId: string } = await operated.ask(args, password);
  return { userId, email };
};
const send = (command: object) => operated.database.dynamo(command as never);
const loginOf = async (email: string) =>
  (await operated.database.dynamo(new GetCommand({ TableName: 'Credentials', Key: { email } }))).Item;

/** Deletes an account, and does something while the question stands. */
const deleteWhile = (account: string, whileAsked: () => Promise<unknown>) =>
  deleteAccount.act(aTask(impatientTarget(operated.outputs), { confirm: async () => void (await whileAsked()) }), {
    account,
  });

describe('ops accounts delete', () => {
  it('keeps the login of a user who was moved to another account while it asked', async () => {
    const { email } = await create('moving-a');
    const stays = await create('moving-a');
    await deleteWhile('moving-a', async () => {
      await operated.ask(['users', 'delete', email]);
      await create('moving-b', email);
    });
    expect(await operated.ask(['users', 'show', email])).toMatchObject({ accountId: 'moving-b' });
    expect(await loginOf(stays.email)).toBeUndefined();
    expect(await operated.ask(['users', 'list', '--account', 'moving-a'])).toEqual([]);
  });

  it('leaves no login of a user whose address was changed while it asked', async () => {
    const { userId, email } = await create('renamed');
    const next = newEmail();
    await deleteWhile('renamed', () => operated.ask(['users', 'set-email', userId, next]));
    expect([await loginOf(email), await loginOf(next)]).toEqual([undefined, undefined]);
  });

  it('counts the webhooks that it deleted, of which one went and two came while it asked', async () => {
    const owner = { accountId: 'webhooks' };
    const register = (eventName: EventName) =>
      send(new PutCommand({ TableName: 'Webhooks', Item: aWebhook({ ...owner, eventName }) }));
    await create(owner.accountId);
    await register('demanda.criada');
    const counts = await deleteWhile(owner.accountId, async () => {
      await send(new DeleteCommand({ TableName: 'Webhooks', Key: { ...owner, eventName: 'demanda.criada' } }));
      await register('demanda.cancelada');
      await register('demanda.finalizada');
    });
    expect(counts).toMatchObject({ users: 1, webhooks: 2 });
  });

  it('keeps a client that is bound to another account while it asks, and takes one that comes to it', async () => {
    const bound = async (name: string, account: string): Promise<string> => {
      const args = ['clients', 'create', '--name', name, '--grant', 'password', '--account', account];
      return (await operated.ask(args)).clientId;
    };
    const [leaves, comes] = [await bound('Leaves', 'binding-a'), await bound('Comes', 'binding-b')];
    await create('binding-a');
    await deleteWhile('binding-a', async () => {
      await operated.ask(['clients', 'update', leaves, '--account', 'binding-b']);
      await operated.ask(['clients', 'update', comes, '--account', 'binding-a']);
    });
    expect(await operated.ask(['clients', 'show', leaves])).toMatchObject({
      accountId: 'binding-b',
      status: 'enabled',
    });
    expect(await operated.run('clients', 'show', comes)).toMatchObject({ code: 1 });
  });

  // Bug: the delivery of an attempt that had read its webhook was stored after the deletion, and stayed with its answer.
  it('waits for attempts that are under way, and deletes what they stored', async () => {
    const { dynamo } = operated.database;
    const store = makeDeliveryStore({ ...systemTime, dynamo, table: 'Deliveries' });
    const late = aDelivery({ createdAt: Date.now(), accountId: 'attempting' });
    await create('attempting');
    await send(new PutCommand({ TableName: 'Webhooks', Item: aWebhook({ accountId: 'attempting' }) }));
    const waits: number[] = [];
    const pause = async (milliseconds: number) => {
      if (milliseconds > 20_000) await store.create(settled(late, 'delivered', Date.now()));
      waits.push(milliseconds);
    };
    const target = { ...localTarget(operated.outputs), pause };
    const counts = await deleteAccount.act(aTask(target), { account: 'attempting' });
    expect(counts).toMatchObject({ webhooks: 1, deliveries: 1 });
    expect(Math.max(...waits)).toBeGreaterThan(25_000);
    expect(await store.read([late.id])).toEqual([]);
  });

  // Bug: the run after one that was interrupted found no webhook any more, and did not wait.
  it('waits for them, too, where a run before had deleted the webhooks', async () => {
    const { userId } = await create('interrupted');
    const waits: number[] = [];
    const pause = async (milliseconds: number) => void waits.push(milliseconds);
    const target = { ...localTarget(operated.outputs), pause };
    await openUsers(target).setUserStatus(userId, 'disabled');
    await deleteAccount.act(aTask(target), { account: 'interrupted' });
    expect(Math.max(...waits)).toBeGreaterThan(25_000);
  });

  it('ends that wait where it is interrupted', async () => {
    const { userId } = await create('impatient');
    const pause = (milliseconds: number, signal?: AbortSignal) => {
      if (milliseconds > 20_000) process.emit('SIGINT', 'SIGINT');
      return systemTime.pause(milliseconds, signal);
    };
    const target = { ...localTarget(operated.outputs), pause };
    await openUsers(target).setUserStatus(userId, 'disabled');
    const deleted = deleteAccount.act(aTask(target), { account: 'impatient' });
    await expect(deleted).rejects.toThrow(/^interrupted: the same command again/);
  });

  it('tells what it looks at where nothing is deleted for long', async () => {
    await create('large');
    const { send: put } = openQueues(localTarget(operated.outputs));
    await put('DeadLetterQueueUrl', 'of another', 'another');
    const told = new Set<string>();
    const target = impatientTarget(operated.outputs);
    await deleteAccount.act(aTask(target, { progress: text => void told.add(text) }), { account: 'large' });
    for (const text of [/^Users read so far: \d+$/, /^Reading clients$/, /^Dead letters looked at: 1$/])
      expect([...told]).toContainEqual(expect.stringMatching(text));
  });

  it('waits for as long as an attempt of any stage may last', () => {
    const timeout = (milliseconds: number) => stageConfiguration('dev', { attemptTimeout: `${milliseconds}ms` });
    expect(timeout(longestAttemptTimeout).attemptTimeout).toBe(longestAttemptTimeout);
    expect(() => timeout(longestAttemptTimeout + 1)).toThrow('attemptTimeout must be');
  });
});

describe('the export of an account', () => {
  it('has each delivery once, though one moves to the other list and one moves back meanwhile', async () => {
    const { dynamo } = operated.database;
    const store = makeDeliveryStore({ ...systemTime, dynamo, table: 'Deliveries' });
    const [retried, resent] = [1, 2].map(number =>
      aDelivery({
        createdAt: Date.now(),
        scheduledAt: Date.now(),
        accountId: 'exporting',
        id: `evt_${String(number).padStart(27, '0')}`,
      }),
    ) as [Delivery, Delivery];
    const [failed, done] = [settled(retried, 'failed', Date.now()), settled(resent, 'delivered', Date.now())];
    for (const delivery of [failed, done]) await store.create(delivery);
    const items = openAccountItems(localTarget(operated.outputs), 'exporting');
    let reads = 0;
    async function* deliveryIds(lists: Parameters<typeof items.deliveryIds>[0]) {
      for (const list of lists) {
        yield* items.deliveryIds([list]);
        reads += 1;
        if (reads > 1) continue;
        expect(await store.update(failed, settled(retried, 'delivered', Date.now()))).toBe(true);
        expect(await store.update(done, settled(resent, 'failed', Date.now()))).toBe(true);
      }
    }
    const readers = makeRecordReaders(localTarget(operated.outputs), { ...items, deliveryIds });
    const ids: unknown[] = [];
    for await (const record of readers.deliveries()) ids.push('id' in record && record.id);
    expect(ids.sort()).toEqual([retried.id, resent.id]);
  });
});
