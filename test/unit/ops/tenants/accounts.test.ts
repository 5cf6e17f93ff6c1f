import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, describe, expect, it } from 'vitest';
import { settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeDeliveryStore } from '../../../../lambdas/delivery/store/delivery-store.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { stageConfiguration } from '../../../../lib/config.ts';
import type { DeadLetter } from '../../../../ops/stage/queues.ts';
import { localTarget } from '../../../../ops/stage/target.ts';
import { deleteDeadLetters } from '../../../../ops/tenants/account-dead-letters.ts';
import { openAccountItems } from '../../../../ops/tenants/account-items.ts';
import { makeRecordReaders } from '../../../../ops/tenants/account-records.ts';
import { maxAttemptTimeout } from '../../../../ops/tenants/accounts.ts';
import { type Conditions, interrupt, startOperatedTables } from '../../../support/operated-tables.ts';
import { aDelivery, aWebhook } from '../../delivery/builders.ts';

const operated = await startOperatedTables();
afterAll(() => operated.stop());

const { json, createUser, createClient, under } = operated;
const { dynamo } = operated.database;
const loginOf = (email: string) => operated.item('Credentials', { email });
const store = makeDeliveryStore({ ...systemTime, dynamo, table: 'Deliveries' });
const deleteUnder = (account: string, conditions: Conditions) => under(conditions).json(`accounts delete ${account}`);
/** Deletes an account, and calls a function after the confirmation and before any deletion. */
const deleteWhile = (account: string, act: () => Promise<unknown>) =>
  deleteUnder(account, { before: ['Scan', 3, act] });

describe('ops accounts delete', () => {
  it('fails without --yes, and for an account without data', async () => {
    const { email } = await createUser('asked');
    const question =
      /^error: This permanently deletes account asked of .*: 1 user, and all deliveries .* --yes to confirm\.\n$/;
    const failure = { code: 1, stdout: '', stderr: expect.stringMatching(question) };
    expect(await operated.run('accounts delete asked')).toEqual(failure);
    expect(await loginOf(email)).toBeDefined();
    const nothing = { code: 1, stderr: expect.stringMatching(/^error: Account "nobody" has no data/m) };
    expect(await operated.run('--yes accounts delete nobody')).toMatchObject(nothing);
  });

  it('keeps the login of a user who moves to another account during the confirmation', async () => {
    const [{ email }, stays] = [await createUser('moving-a'), await createUser('moving-a')];
    await deleteWhile('moving-a', async () => {
      await json(`users delete ${email}`);
      await createUser('moving-b', email);
    });
    expect(await json(`users show ${email}`)).toMatchObject({ accountId: 'moving-b' });
    expect(await loginOf(stays.email)).toBeUndefined();
    expect(await json('users list --account moving-a')).toEqual([]);
  });

  it('deletes the login of a user if its address changes during the confirmation', async () => {
    const { userId, email } = await createUser('renamed');
    await deleteWhile('renamed', () => json(`users set-email ${userId} next-${email}`));
    expect([await loginOf(email), await loginOf(`next-${email}`)]).toEqual([undefined, undefined]);
  });

  it('counts the deleted webhooks, even if the webhooks change during the confirmation', async () => {
    const accountId = 'webhooks';
    await createUser(accountId);
    await operated.put('Webhooks', aWebhook({ accountId }));
    const counts = await deleteWhile(accountId, async () => {
      await dynamo(new DeleteCommand({ TableName: 'Webhooks', Key: { accountId, eventName: 'demanda.criada' } }));
      const events = ['demanda.cancelada', 'demanda.finalizada'] as const;
      await operated.put('Webhooks', ...events.map(eventName => aWebhook({ accountId, eventName })));
    });
    expect(counts).toMatchObject({ users: 1, webhooks: 2 });
  });

  it('keeps a client that leaves the account during the confirmation, and deletes a client that joins it', async () => {
    const leaving = await createClient('Leaving', '--account=binding-a');
    const joining = await createClient('Joining', '--account=binding-b');
    await createUser('binding-a');
    await deleteWhile('binding-a', async () => {
      await json(`clients update ${leaving.clientId} --account binding-b`);
      await json(`clients update ${joining.clientId} --account binding-a`);
    });
    const unchanged = { accountId: 'binding-b', status: 'enabled' };
    expect(await json(`clients show ${leaving.clientId}`)).toMatchObject(unchanged);
    expect(await operated.run(`clients show ${joining.clientId}`)).toMatchObject({ code: 1 });
  });

  it('waits for attempts in flight, and deletes the deliveries that they store', async () => {
    const late = settled(aDelivery({ createdAt: Date.now(), accountId: 'attempting' }), 'delivered', Date.now());
    await createUser('attempting');
    await operated.put('Webhooks', aWebhook({ accountId: 'attempting' }));
    const waits: number[] = [];
    const pause = async (milliseconds: number) => {
      if (milliseconds > 20_000) await store.create(late);
      waits.push(milliseconds);
    };
    expect(await deleteUnder('attempting', { time: { pause } })).toMatchObject({ webhooks: 1, deliveries: 1 });
    expect(Math.max(...waits)).toBeGreaterThan(25_000);
    expect(await store.read([late.id])).toEqual([]);
  });

  it('also waits for attempts if an earlier run deleted the webhooks, and stops waiting if it is interrupted', async () => {
    const [waits, ends]: [number[], number[]] = [[], []];
    const pause = async (milliseconds: number, signal?: AbortSignal) => {
      waits.push(milliseconds);
      if (milliseconds > 20_000) interrupt();
      signal?.throwIfAborted();
      ends.push(milliseconds);
    };
    const { userId } = await createUser('interrupted');
    await json(`users disable ${userId}`);
    const stopped = await under({ time: { pause } }).run('--yes accounts delete interrupted');
    const stderr = expect.stringContaining('error: Interrupted. Run the same command');
    expect(stopped).toMatchObject({ code: 1, stderr });
    expect(Math.max(...waits)).toBeGreaterThan(25_000);
    expect(Math.max(...ends)).toBeLessThan(25_000);
  });

  it('waits as long as the longest attempt of any stage', () => {
    const timeout = (milliseconds: number) => stageConfiguration('dev', { attemptTimeout: `${milliseconds}ms` });
    expect(timeout(maxAttemptTimeout).attemptTimeout).toBe(maxAttemptTimeout);
    expect(() => timeout(maxAttemptTimeout + 1)).toThrow('attemptTimeout must be');
  });
});

describe('the dead-letter messages of an account', () => {
  it.each<[string, string | number]>([
    ['letters', 'letters'],
    ['123', 123],
  ])('are deleted in any form, without those of other accounts: %s', async (account, id) => {
    const event = { id_conta: id, event: 'demanda.xx', id_demanda: 1 };
    const ownMessages = [
      event,
      { accountId: id, id: 'evt_1', eventName: 'demanda.criada', attempt: 2 },
      { 'detail-type': 'demand', source: 's', detail: event },
      { Type: 'Notification', TopicArn: 'arn', Message: JSON.stringify(event) },
    ].map(message => JSON.stringify(message));
    const others = [
      ...['no JSON', 'null', JSON.stringify(account), JSON.stringify([account])],
      JSON.stringify({ ...event, id_conta: `${id}2`, id }),
      JSON.stringify({ ...event, id_conta: `${id}2`, accountId: id, detail: { id_conta: id } }),
    ];
    await createUser(account);
    for (const body of [...ownMessages, ...others]) await operated.send('dead', body);
    expect(await deleteUnder(account, {})).toMatchObject({ deadLetters: 4, inFlight: 0 });
    const remaining: { body: string; messageId: string }[] = await json('dlq list');
    expect(remaining.map(({ body }) => body).sort()).toEqual(others.sort());
    await json('dlq', 'discard', ...remaining.map(({ messageId }) => messageId));
  });

  it('are reported if another command has them in flight', async () => {
    await createUser('inflight');
    await operated.send('dead', JSON.stringify({ id_conta: 'inflight' }));
    expect(await operated.receive('dead')).toHaveLength(1);
    expect(await deleteUnder('inflight', {})).toMatchObject({ deadLetters: 0, inFlight: 1 });
    const stderr = expect.stringContaining('another command is reading about 1 dead-letter message');
    expect(await operated.run('--yes accounts delete inflight')).toMatchObject({ code: 1, stderr });
  });

  it('are immediately visible again if the command is interrupted', async () => {
    await createUser('stopped');
    const sent = [await operated.send('dead', 'another'), await operated.send('dead', 'one more')];
    const stopped = under({ before: ['ReceiveMessage', 1, interrupt] }).run('--yes accounts delete stopped');
    expect(await stopped).toMatchObject({ code: 1 });
    const remaining: { messageId: string }[] = await json('dlq list');
    expect(remaining.map(({ messageId }) => messageId)).toEqual(sent);
  });

  // SQS returns an empty response, without an error, once 120,000 messages are in flight.
  const tooMany = /^Stopped after 100001 dead-letter messages of other accounts\. .*"dlq redrive".* again\.$/;
  it.each([
    [100_000, { deadLetters: 1, inFlight: 0 }],
    [100_001, expect.stringMatching(tooMany)],
  ])('are deleted behind up to 100,000 messages of other accounts: %i', async (others, outcome) => {
    const messages = [...Array.from({ length: others }, () => ({ id_conta: 'bolt' })), { id_conta: 'acme' }];
    const queues = {
      deadLetters: async function* () {
        for (const [at, body] of messages.entries())
          yield { body: JSON.stringify(body), origin: { messageId: `${at}` } } as DeadLetter;
      },
      countInFlight: async () => 0,
      remove: async () => {},
    };
    expect(await deleteDeadLetters(queues, 'acme', () => {}).catch(({ message }) => message)).toEqual(outcome);
  });
});

describe('the export of an account', () => {
  it('contains each delivery once, even if deliveries move between the two lists during the export', async () => {
    const times = { createdAt: Date.now(), scheduledAt: Date.now() };
    const make = (id: string) => aDelivery({ ...times, accountId: 'exporting', id: `evt_${id.padStart(27, '0')}` });
    const [retried, resent] = [make('1'), make('2')];
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
