import { expect, it, onTestFinished } from 'vitest';
import { createClient, newAccount } from '../support/e2e-accounts.ts';
import { settled } from '../support/e2e-deliveries.ts';
import { ops } from '../support/e2e-ops.ts';
import { until } from '../support/e2e-poll.ts';
import { deliveryId, publish, send } from '../support/e2e-queues.ts';
import { startReceiver } from '../support/e2e-receiver.ts';
import { describeWith } from '../support/e2e-target.ts';
import { openSession, register } from '../support/e2e-webhooks.ts';

const evento = 'demanda.criada';

interface Found {
  readonly verdict: string;
  readonly why: string;
  readonly deliveryId: string | null;
  readonly messageId: string | null;
  readonly logSince: string | null;
}

const find = (...reference: string[]) => ops<Found>(['events', 'find', ...reference]);

/** The log is searchable a moment after the event was taken up. */
const findKnown = (...reference: string[]) =>
  until(`a verdict on ${reference.join(' ')}`, async () => {
    const found = await find(...reference);
    return found.verdict === 'unknown' ? undefined : found;
  });

describeWith(['names'], 'ops events find', () => {
  it('finds what was delivered, by each of its names', async () => {
    const receiver = await startReceiver('events');
    onTestFinished(() => receiver.stop());
    const session = await openSession(await createClient());
    const { account } = session.user;
    receiver.script('/found', { status: 204 });
    await register(session, { evento, url: receiver.url('/found') });
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
