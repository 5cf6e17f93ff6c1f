import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeWebhookHealth } from '../../../lambdas/delivery/webhook-health.ts';
import { parseWebhook, type Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { frozenClock } from '../../support/clock.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';
import { aWebhook, noon } from './builders.ts';

let dynalite: Dynalite;
beforeAll(async () => {
  dynalite = await startDynalite('Webhooks');
});
afterAll(() => dynalite.stop());
beforeEach(() => put(aWebhook()));

const health = () =>
  makeWebhookHealth({ documents: dynalite.documents, table: 'Webhooks', now: frozenClock(noon + 1_000).now });
const put = async (webhook: Webhook) => {
  await dynalite.documents.send(new PutCommand({ TableName: 'Webhooks', Item: webhook }));
};
const stored = async () => {
  const Key = { accountId: 'conta-1', evento: 'demanda.criada' };
  return parseWebhook((await dynalite.documents.send(new GetCommand({ TableName: 'Webhooks', Key }))).Item);
};

describe('a webhook’s health', () => {
  it('notes the first failure only', async () => {
    expect(await health().startedFailing(aWebhook())).toBe(true);
    expect(await stored()).toEqual(aWebhook({ failingSince: noon + 1_000 }));
    expect(await health().startedFailing(aWebhook())).toBe(false);
  });

  it('forgets it with a success', async () => {
    const failing = aWebhook({ failingSince: noon });
    await put(failing);
    expect(await health().recovered(failing)).toBe(true);
    expect(await stored()).toEqual(aWebhook());
  });

  it('is suspended once', async () => {
    expect(await health().suspend(aWebhook(), 'gone')).toBe(true);
    expect(await stored()).toMatchObject({ status: 'suspenso', suspensionReason: 'gone', updatedAt: noon + 1_000 });
    expect(await health().suspend(aWebhook(), 'sem_sucesso')).toBe(false);
    expect(await stored()).toMatchObject({ suspensionReason: 'gone' });
  });

  it('is suspended although its secret was rotated during the attempt', async () => {
    await put(aWebhook({ updatedAt: noon + 500 }));
    expect(await health().suspend(aWebhook(), 'gone')).toBe(true);
  });

  it.each([
    ['another registration', { webhookId: 'webhook-0' }],
    ['an earlier URL', { url: 'https://earlier.example.com/' }],
    ['an earlier credential', { sealedAuthorization: 'k.earlier' }],
  ])('is not changed by an attempt at %s', async (_, earlier) => {
    const attempted = aWebhook(earlier);
    expect(await health().startedFailing(attempted)).toBe(false);
    expect(await health().recovered({ ...attempted, failingSince: noon })).toBe(false);
    expect(await health().suspend(attempted, 'gone')).toBe(false);
    expect(await stored()).toEqual(aWebhook());
  });
});
