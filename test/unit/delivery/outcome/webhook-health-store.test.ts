import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { AttemptResult } from '../../../../lambdas/delivery/delivery.ts';
import { makeWebhookHealthStore } from '../../../../lambdas/delivery/outcome/webhook-health-store.ts';
import { parseWebhook, type Webhook } from '../../../../lambdas/webhooks/webhook.ts';
import { frozenClock } from '../../../support/clock.ts';
import { startDatabase } from '../../../support/database/database.ts';
import { aWebhook, noon } from '../builders.ts';

const database = await startDatabase('Webhooks');
afterAll(() => database.stop());
beforeEach(() => put(aWebhook()));

const health = () =>
  makeWebhookHealthStore({ dynamo: database.dynamo, table: 'Webhooks', now: frozenClock(noon + 1_000).now });
const put = async (webhook: Webhook) => {
  await database.dynamo(new PutCommand({ TableName: 'Webhooks', Item: webhook }));
};
const item = async () => {
  const Key = { accountId: 'conta-1', eventName: 'demanda.criada' };
  return (await database.dynamo(new GetCommand({ TableName: 'Webhooks', Key }))).Item;
};
const stored = async () => parseWebhook(await item());
const told = (lastResult: AttemptResult) => ({ lastResult, deliveryId: 'evt_1' });
const announced = async () => (await item())?.unannounced;

describe('a webhook’s health', () => {
  it('stores the first failure only', async () => {
    expect(await health().startedFailing(aWebhook())).toBe(true);
    expect(await stored()).toEqual(aWebhook({ failingSince: noon + 1_000 }));
    expect(await health().startedFailing(aWebhook())).toBe(false);
  });

  const failing = aWebhook({ failingSince: noon });
  const announcedFailing = aWebhook({ failingSince: noon, failingMark: 10, announcedSince: noon });
  const suspended = { status: 'suspended', suspensionReason: 'no_success' } as const;
  it.each([
    ['forgets it with a success, and tells nobody of what was not announced', failing, false],
    ['has it announced that it delivers again, where it was announced that it failed', announcedFailing, true],
    ['has that announced, too, where it was replaced or reactivated since', aWebhook({ announcedSince: noon }), true],
  ])('%s', async (_, before, isAnnounced) => {
    await put(before);
    const all = await Promise.all([1, 2, 3].map(() => health().recovered(before, told('delivered'))));
    expect(all.filter(Boolean)).toHaveLength(1);
    expect(await stored()).toEqual(aWebhook());
    const recovered = { type: 'webhook.recovered', since: noon, reason: null, ...told('delivered') };
    expect(await announced()).toEqual(isAnnounced ? recovered : undefined);
  });

  it.each([
    ['by a success that knows nothing of an announcement: the next one tells operators', failing, {}],
    ['while it is suspended', announcedFailing, suspended],
  ])('keeps failing %s', async (_, attempted, changes) => {
    await put({ ...announcedFailing, ...changes });
    expect(await health().recovered(attempted, told('delivered'))).toBe(false);
    expect(await announced()).toBeUndefined();
  });

  it.each([
    ['its failing', (webhook: Webhook) => health().announceFailing(webhook, 10, told('http'))],
    ['its suspension', (webhook: Webhook) => health().suspendFailing(webhook, told('http'))],
  ])('remembers with the announcement of %s since when it failed', async (_, announce) => {
    const failing = aWebhook({ failingSince: noon });
    await put(failing);
    expect(await announce(failing)).toBe(true);
    expect(await stored()).toMatchObject({ announcedSince: noon });
  });

  it('is suspended once by 410, and says so once', async () => {
    expect(await health().suspendGone(aWebhook(), told('http'))).toBe('suspended');
    const suspendedAt = { updatedAt: noon + 1_000, failingSince: noon + 1_000 };
    expect(await stored()).toMatchObject({ status: 'suspended', suspensionReason: 'gone', ...suspendedAt });
    expect(await health().suspendGone(aWebhook(), told('http'))).toBe('suspended_already');
    expect(await health().suspendFailing(aWebhook({ failingSince: noon }), told('http'))).toBe(false);
    expect(await stored()).toMatchObject({ suspensionReason: 'gone' });
    expect(await announced()).toEqual({
      type: 'webhook.suspended',
      since: noon + 1_000,
      reason: 'gone',
      ...told('http'),
    });
  });

  it.each([
    ['its secret was rotated', { updatedAt: noon + 500 }],
    ['its credential was replaced', { sealedAuthorization: 'k.new' }],
    ['it began to fail', { failingSince: noon + 500 }],
    ['its URL was written in other words', { url: 'https://receiver.example.com:443/hooks' }],
  ])('is suspended by 410 although %s during the attempt', async (_, changes) => {
    await put(aWebhook(changes));
    expect(await health().suspendGone(aWebhook(), told('http'))).toBe('suspended');
    const { failingSince = noon + 1_000 }: Partial<Webhook> = changes;
    expect(await stored()).toMatchObject({ failingSince });
  });

  it('is not touched by a 410 where it is gone, but for what an operator left', async () => {
    const { accountId, eventName } = aWebhook();
    const Item = { accountId, eventName, status: 'suspended', suspensionReason: 'operator', updatedAt: noon };
    await database.dynamo(new PutCommand({ TableName: 'Webhooks', Item }));
    expect(await health().suspendGone(aWebhook(), told('http'))).toBe('outdated');
  });

  it('is not suspended by the 410 of an attempt before its reactivation', async () => {
    await put(aWebhook({ resetAt: noon + 500 }));
    expect(await health().suspendGone(aWebhook(), told('http'))).toBe('outdated');
    expect(await stored()).toMatchObject({ status: 'active' });
  });

  it('is suspended when it has failed all the time, and not when a success came between', async () => {
    const failing = aWebhook({ failingSince: noon });
    await put(aWebhook({ failingSince: noon + 500 }));
    expect(await health().suspendFailing(failing, told('tls'))).toBe(false);
    await put(aWebhook());
    expect(await health().suspendFailing(failing, told('tls'))).toBe(false);
    await put(failing);
    expect(await health().suspendFailing(failing, told('tls'))).toBe(true);
    expect(await announced()).toEqual({
      type: 'webhook.suspended',
      since: noon + 1_000,
      reason: 'no_success',
      ...told('tls'),
    });
  });

  it('has it announced once for each mark how long it has been failing', async () => {
    const failing = aWebhook({ failingSince: noon });
    await put(failing);
    const failed = { type: 'webhook.failing', since: noon, reason: null, ...told('http') };
    const all = await Promise.all([1, 2, 3].map(() => health().announceFailing(failing, 10, told('http'))));
    expect(all.filter(Boolean)).toHaveLength(1);
    expect(await announced()).toEqual(failed);
    expect(await health().announceFailing(failing, 20, told('http'))).toBe(true);
    expect(await stored()).toMatchObject({ failingMark: 20 });
    expect(await health().announceFailing({ ...failing, failingSince: noon - 1 }, 30, told('http'))).toBe(false);
    await put({ ...failing, status: 'suspended', suspensionReason: 'gone' });
    expect(await health().announceFailing(failing, 40, told('http'))).toBe(false);
  });

  it('begins anew with the marks when it begins to fail anew', async () => {
    await put(aWebhook({ failingMark: 20 }));
    await health().startedFailing(aWebhook());
    expect(await stored()).toEqual(aWebhook({ failingSince: noon + 1_000 }));
  });

  it.each([
    ['another registration', { webhookId: 'webhook-0' }],
    ['an earlier URL, or before a reactivation', { resetAt: noon - 1_000 }],
  ])('is not changed by an attempt at %s', async (_, earlier) => {
    const attempted = aWebhook(earlier);
    expect(await health().startedFailing(attempted)).toBe(false);
    expect(await health().recovered({ ...attempted, failingSince: noon }, told('delivered'))).toBe(false);
    expect(await health().suspendFailing({ ...attempted, failingSince: noon }, told('http'))).toBe(false);
    expect(await health().announceFailing({ ...attempted, failingSince: noon }, 10, told('http'))).toBe(false);
    expect(await stored()).toEqual(aWebhook());
  });
});
