import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { makeWebhookHealthStore } from '../../../../lambdas/delivery/outcome/webhook-health-store.ts';
import { type Webhook, webhookKey } from '../../../../lambdas/webhooks/webhook.ts';
import { makeStage } from '../../../support/stage.ts';
import { aWebhook, noon } from '../builders.ts';

/* An attempt changes the health of its webhook only if the webhook is unchanged since the read (`docs/delivery.md`, step 5). */

const trigger = { lastResult: 'http', deliveryId: 'evt_1' } as const;
type Store = ReturnType<typeof makeWebhookHealthStore>;
const acts = {
  startedFailing: (store: Store, read: Webhook) => store.startedFailing(read),
  recovered: (store: Store, read: Webhook) => store.recovered(read, trigger),
  announceFailing: (store: Store, read: Webhook) => store.announceFailing(read, 20, trigger),
  suspendGone: (store: Store, read: Webhook) => store.suspendGone(read, trigger),
  suspendFailing: (store: Store, read: Webhook) => store.suspendFailing(read, trigger),
};

const failing = { failingSince: noon };
const announced = { failingSince: noon, failingMark: 10, announcedSince: noon };
const gone = { status: 'suspended', suspensionReason: 'gone' } as const;
const now = noon + 1_000;
const gap = { failingSince: noon + 500 };

/** The function, the webhook that the attempt read, the stored webhook, the result, and the stored webhook afterwards. */
it.each<[keyof typeof acts, Partial<Webhook>, Partial<Webhook>, unknown, Partial<Webhook> & { reported?: string }]>([
  ['startedFailing', {}, { failingMark: 20 }, true, { failingSince: now }],
  ['startedFailing', {}, failing, false, failing],
  ['recovered', failing, failing, true, {}],
  ['recovered', failing, announced, false, announced],
  ['recovered', failing, {}, false, {}],
  ['recovered', announced, announced, true, { reported: 'webhook.recovered' }],
  ['recovered', { announcedSince: noon }, { announcedSince: noon }, true, { reported: 'webhook.recovered' }],
  ['recovered', announced, { ...announced, ...gone }, false, { ...announced, ...gone }],
  ['announceFailing', failing, failing, true, { ...announced, failingMark: 20, reported: 'webhook.failing' }],
  ['announceFailing', failing, { ...failing, failingMark: 20 }, false, { ...failing, failingMark: 20 }],
  ['announceFailing', failing, gap, false, gap],
  ['announceFailing', failing, { ...failing, ...gone }, false, { ...failing, ...gone }],
  ['suspendGone', {}, {}, 'suspended', { ...gone, failingSince: now, updatedAt: now, reported: 'webhook.suspended' }],
  ['suspendGone', {}, gap, 'suspended', { ...gone, ...gap, updatedAt: now, reported: 'webhook.suspended' }],
  ['suspendGone', {}, gone, 'suspended_already', gone],
  ['suspendGone', {}, { resetAt: now }, 'outdated', { resetAt: now }],
  ['suspendFailing', failing, gap, false, gap],
  ['suspendFailing', failing, {}, false, {}],
  ['suspendFailing', failing, { ...failing, ...gone }, false, { ...failing, ...gone }],
  ...((Object.keys(acts) as (keyof typeof acts)[]).flatMap(act =>
    [{ webhookId: 'webhook-2' }, { resetAt: now }].map(other => {
      const later = { ...(act !== 'startedFailing' && failing), ...other };
      return [act, failing, later, act === 'suspendGone' ? 'outdated' : false, later] as const;
    }),
  ) as never),
])('%s with webhook %j, which is stored as %j, returns %j', async (act, read, before, result, after) => {
  const { dynamo } = makeStage();
  await dynamo(new PutCommand({ TableName: 'Webhooks', Item: aWebhook(before) }));
  const store = makeWebhookHealthStore({ dynamo, table: 'Webhooks', now: () => now });
  expect(await acts[act](store, aWebhook(read))).toBe(result);
  const Key = webhookKey('conta-1', 'demanda.criada');
  const { Item = {} } = await dynamo(new GetCommand({ TableName: 'Webhooks', Key }));
  const { pendingAnnouncement, announcementShard: _, announcementAt: __, ...stored } = Item;
  const { reported, ...changes } = after;
  expect({ ...stored, reported: pendingAnnouncement?.type }).toEqual({ ...aWebhook(changes), reported });
});
