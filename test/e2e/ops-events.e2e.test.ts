import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient, newAccount } from '../support/e2e-accounts.ts';
import { settled } from '../support/e2e-deliveries.ts';
import { ops } from '../support/e2e-ops.ts';
import { until } from '../support/e2e-poll.ts';
import { deliveryId, publish, send } from '../support/e2e-queues.ts';
import { type Answer, type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { describeWith, run } from '../support/e2e-target.ts';
import { callApi, openSession, register, type Session } from '../support/e2e-webhooks.ts';

const evento = 'demanda.criada';

interface Found {
  readonly verdict: string;
  readonly why: string;
  readonly deliveryId: string | null;
  readonly messageId: string | null;
  readonly delivery: { readonly attempts: readonly unknown[] } | null;
  readonly logSince: string | null;
}

const find = (...reference: string[]) => ops<Found>(['events', 'find', ...reference]);

/** The log is searchable a moment after the event was taken up. */
const findKnown = (...reference: string[]) =>
  until(`a verdict on ${reference.join(' ')}`, async () => {
    const found = await find(...reference);
    return found.verdict === 'unknown' ? undefined : found;
  });

let receiver: Receiver;
let count = 0;

beforeAll(async () => {
  if (run.hostsFile !== null) receiver = await startReceiver('events');
});
afterAll(() => receiver?.stop());

/** An account with a webhook whose receiver answers so. */
const openWebhook = async (...answers: [Answer, ...Answer[]]): Promise<{ session: Session; path: string }> => {
  const session = await openSession(await createClient());
  count += 1;
  const path = `/events-${count}`;
  receiver.script(path, ...answers);
  await register(session, { evento, url: receiver.url(path) });
  return { session, path };
};

describeWith(['names', 'schedule'], 'ops events find', () => {
  it('finds what was delivered, by each of its names', async () => {
    const { session } = await openWebhook({ status: 204 });
    const { account } = session.user;
    const messageId = await publish(account, { event: evento, id_demanda: 1, id: 'pub-1' });
    const id = deliveryId(account, evento, 'pub-1');
    await settled(id);
    for (const reference of [[id], ['--account', account, '--event', evento, '--id', 'pub-1']]) {
      const found = await find(...reference);
      expect(found).toMatchObject({ verdict: 'delivered', deliveryId: id, messageId, logSince: null });
      expect(found.why).toMatch(/^attempt 1 of .* ended with entregue 204$/);
    }
    expect(await findKnown(messageId)).toMatchObject({ verdict: 'delivered', deliveryId: id, messageId });
  });

  it('finds what waits, and what is held', async () => {
    const { session } = await openWebhook({ status: 503, headers: { 'retry-after': '3600' } }, { status: 410 });
    const { account } = session.user;
    await publish(account, { event: evento, id_demanda: 1, id: 'waits' });
    const waiting = await until('its first attempt', async () => {
      const found = await find(deliveryId(account, evento, 'waits'));
      return found.delivery?.attempts.length === 1 ? found : undefined;
    });
    expect(waiting).toMatchObject({
      verdict: 'waiting',
      why: expect.stringMatching(/^attempt 2 is due at .*http 503$/),
    });
    await publish(account, { event: evento, id_demanda: 1, id: 'held' });
    const held = deliveryId(account, evento, 'held');
    await settled(held);
    expect(await find(held)).toMatchObject({ verdict: 'held', why: expect.stringMatching(/suspended \(gone\)/) });
  });

  it('finds what failed; a replay of the range sends it again, and only that', async () => {
    const failing = { status: 500 };
    const { session, path } = await openWebhook(failing);
    const { account } = session.user;
    const since = new Date().toISOString();
    for (const id of ['one', 'two']) await publish(account, { event: evento, id_demanda: 1, id });
    const ids = ['one', 'two'].map(id => deliveryId(account, evento, id));
    for (const id of ids) {
      await settled(id, 60_000);
      expect(await find(id)).toMatchObject({ verdict: 'failed', why: expect.stringMatching(/ended with http 500$/) });
    }
    const until = new Date().toISOString();
    const range = ['--account', account, '--event', evento, '--since', since];
    const before = receiver.received(path).length;
    receiver.script(path, { status: 200 });
    const held = await ops(['deliveries', 'replay', ...range, '--state', 'retida']);
    expect(held).toMatchObject({ total: 0, sent: 0, state: 'concluido' });
    const replayed = await ops(['deliveries', 'replay', ...range, '--until', until, '--state', 'falhou']);
    expect(replayed).toMatchObject({ id: expect.stringMatching(/^reenvio_/), total: 2, sent: 2, state: 'concluido' });
    for (const id of ids) expect(await settled(id, 60_000)).toMatchObject({ state: 'entregue' });
    expect(receiver.received(path).length - before).toBe(2);
  }, 180_000);

  it('replays a range of all webhooks of an account; typed again it skips what it did', async () => {
    const { session } = await openWebhook({ status: 410 });
    const { account } = session.user;
    const other = 'demanda.cancelada';
    const since = new Date().toISOString();
    await publish(account, { event: evento, id_demanda: 1, id: 'held' });
    await settled(deliveryId(account, evento, 'held'));
    await register(session, { evento: other, url: receiver.url('/replayed-with-others') });
    receiver.script('/replayed-with-others', { status: 410 }, { status: 200 });
    await publish(account, { event: other, id_demanda: 2, id: 'held' });
    const id = deliveryId(account, other, 'held');
    await settled(id);
    await ops(['webhooks', 'reactivate', '--account', account, '--event', other]);
    const range = ['--account', account, '--state', 'retida', '--since', since, '--until', new Date().toISOString()];
    const replayed = await ops(['deliveries', 'replay', '--yes', ...range]);
    expect(replayed).toMatchObject([
      { evento: other, outcome: 'done', total: 1, sent: 1 },
      { evento, outcome: 'skipped', reason: expect.stringMatching(/is suspended \(gone\)/) },
    ]);
    expect(await settled(id)).toMatchObject({ state: 'entregue' });
    await ops(['webhooks', 'reactivate', '--account', account, '--event', evento]);
    expect(await ops(['deliveries', 'replay', '--yes', ...range])).toMatchObject([{ evento, outcome: 'done' }]);
    const again = await until('the delivery to be held once more', async () => {
      const outcomes = await ops<readonly object[]>(['deliveries', 'replay', '--yes', ...range]);
      return outcomes.length > 0 ? outcomes : undefined;
    });
    expect(again).toMatchObject([{ evento, outcome: 'skipped', reason: expect.stringMatching(/this range exists/) }]);
  }, 180_000);

  it('finds what was cancelled', async () => {
    const { session, path } = await openWebhook({ status: 503, headers: { 'retry-after': '3600' } });
    const { account } = session.user;
    await publish(account, { event: evento, id_demanda: 1, id: 'x' });
    await receiver.waitFor(path, 1);
    const id = deliveryId(account, evento, 'x');
    await until('its first attempt', async () => ((await find(id)).delivery ? true : undefined));

    expect((await callApi('DELETE', `/v1/webhooks/${evento}`, { token: session.token })).status).toBe(204);
    expect(await find(id)).toMatchObject({ verdict: 'cancelled', why: expect.stringMatching(/deleted/) });
  });
});

describeWith(['engines'], 'ops events find, of what no table holds', () => {
  it('finds in the log what had no webhook, and says how far back that is kept', async () => {
    const account = newAccount();
    const messageId = await publish(account, { event: evento, id_demanda: 1, id: 'nobody' });
    const found = await findKnown('--account', account, '--event', evento, '--id', 'nobody');
    expect(found).toMatchObject({
      verdict: 'no webhook',
      why: expect.stringContaining(`account ${account} had no webhook for ${evento}`),
      messageId,
      delivery: null,
      logSince: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(await find(messageId)).toMatchObject({ verdict: 'no webhook', deliveryId: found.deliveryId });
  });

  it('finds what was refused, by the message and by the publisher’s own id', async () => {
    const account = newAccount();
    const messageId = await send(JSON.stringify({ id_conta: account, event: evento, id: 'bad' }), account);
    const refused = { verdict: 'refused', messageId, deliveryId: deliveryId(account, evento, 'bad') };
    // the dead-letter queue may have it before the log does
    expect(await findKnown(messageId)).toMatchObject({
      ...refused,
      why: expect.stringMatching(/as malformed \(id_demanda: /),
    });
    const logged = await until('its line in the log', async () => {
      const found = await find(messageId);
      return found.why.includes('refused at') ? found : undefined;
    });
    expect(logged).toMatchObject({
      ...refused,
      why: expect.stringMatching(/refused at .* as malformed \(id_demanda: .*\): "dlq show /),
    });
    const unknown = ['--account', account, '--event', 'demanda.inventada', '--id', 'x'];
    await send(JSON.stringify({ id_conta: account, event: 'demanda.inventada', id_demanda: 1, id: 'x' }), account);
    expect(await findKnown(...unknown)).toMatchObject({
      verdict: 'refused',
      why: expect.stringContaining('as unknown_event'),
    });
  });

  it('says that it knows nothing, and how far it looked', async () => {
    const found = await find('--account', newAccount(), '--event', evento, '--id', 'never');
    expect(found).toMatchObject({ verdict: 'unknown', delivery: null, logSince: expect.stringMatching(/Z$/) });
    expect(found.why).toContain(found.logSince);
  });
});
