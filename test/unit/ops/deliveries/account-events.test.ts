import { expect, it } from 'vitest';
import { type Delivery, isTest, settled } from '../../../../lambdas/delivery/delivery.ts';
import { type AccountSources, readEvents } from '../../../../ops/deliveries/account-events.ts';
import { readDeliveries } from '../../../../ops/deliveries/deliveries.ts';
import type { LoggedLine } from '../../../../ops/stage/cloudwatch.ts';
import { aDelivery, noon } from '../../delivery/builders.ts';

/** Returns sources with these lines in the log, and these deliveries in the table. */
const sourcesOf = (lines: readonly LoggedLine[], deliveries: readonly Delivery[] = []): AccountSources => ({
  listDeliveries: async (_account, _since, most) => deliveries.slice(0, most),
  readDeliveries: async () => [],
  listWebhooks: async () => [],
  keptSince: async () => 0,
  findLines: async () => lines,
  countQueued: async () => 0,
  now: () => noon,
});

it('tells how far back it looked: to the oldest line where there are more lines than are read', async () => {
  const now = Date.UTC(2026, 10, 23, 12);
  const lookedBack = async (count: number) => {
    const lines = Array.from({ length: count }, (_, at) => ({
      at: now - at,
      fields: { message: 'message.deferred', messageId: `message-${at % 100}`, seconds: 1 },
    }));
    const query = { account: 'acme', since: now - 86_400_000, limit: 10 };
    return (await readEvents(query, sourcesOf(lines), () => {})).logSince;
  };
  expect(await lookedBack(200)).toBe(now - 86_400_000);
  expect(await lookedBack(10_000)).toBe(now - 9_999);
});

it('tells an event that was sent before its webhook was deleted by what the attempt’s process logged', async () => {
  const fields = { messageId: 'message-1', deliveryId: 'evt_1', account: 'acme', event: 'demanda.criada' };
  const lines = [
    { ...fields, message: 'event.without_webhook' },
    { ...fields, messageId: 'message-2', message: 'event.without_webhook' },
    { ...fields, message: 'delivery.outcome_not_stored', attempt: 1, result: 'delivered', status: 200 },
  ];
  expect(await listed([], lines)).toEqual([
    ['message-1', 'delivered'],
    ['message-2', 'no webhook'],
  ]);
});

const listed = async (deliveries: readonly Delivery[], lines: readonly Record<string, unknown>[], limit = 10) => {
  const sources = sourcesOf(
    lines.map((fields, at) => ({ at: noon - at, fields })),
    deliveries,
  );
  const { events } = await readEvents({ account: 'conta-1', since: 0, limit }, sources, () => {});
  return events.map(({ messageId, verdict }) => [messageId, verdict]);
};

it('lists a message that was refused, or had no webhook, beside the delivery of another one with its id', async () => {
  const delivered = settled(aDelivery({ id: 'evt_1', messageId: 'delivered' }), 'delivered', noon);
  const lines = [
    { message: 'event.refused', messageId: 'refused', deliveryId: 'evt_1', reason: 'malformed', detail: 'no' },
    { message: 'event.without_webhook', messageId: 'early', deliveryId: 'evt_1' },
    { message: 'message.deferred', messageId: 'copy', deliveryId: 'evt_1', seconds: 1 },
    { message: 'event.refused', messageId: 'delivered', deliveryId: 'evt_1', reason: 'unknown_event', detail: 'no' },
  ];
  expect(await listed([delivered], lines)).toEqual([
    ['delivered', 'delivered'],
    ['refused', 'refused'],
    ['early', 'no webhook'],
  ]);
});

it('says of an event that should have come again long ago that it may be a dead letter', async () => {
  const fields = { message: 'message.deferred', messageId: 'm-1', account: 'conta-1', seconds: 900 };
  const told = async (at: number) =>
    (await readEvents({ account: 'conta-1', since: 0, limit: 1 }, sourcesOf([{ at, fields }]), () => {})).events[0];
  expect((await told(noon - 1_800_000))?.why).toMatch(/comes again 900 s later$/);
  expect((await told(noon - 1_800_001))?.why).toContain('may be a dead letter: "events find m-1" tells');
});

it('reads as many deliveries as are asked for, tests left out', async () => {
  const deliveries = ['teste_1', 'evt_1', 'teste_2', 'evt_2', 'evt_3'].map((id, at) =>
    aDelivery({ id, createdAt: noon - at }),
  );
  const history = async ({ eventName }: { eventName: string }) => ({
    deliveries: eventName === 'demanda.criada' ? deliveries : [],
    next: undefined,
  });
  const query = { account: 'conta-1', since: 0, limit: 2 };
  const found = await readDeliveries(
    history as never,
    query,
    () => {},
    delivery => !isTest(delivery),
  );
  expect(found.map(({ id }) => id)).toEqual(['evt_1', 'evt_2']);
});
