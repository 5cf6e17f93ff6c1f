import { itemSize } from '@emissor/local-cloud/capacity';
import { describe, expect, it } from 'vitest';
import type { AttemptRecord } from '../../../../lambdas/delivery/delivery.ts';
import { eventBody, exampleValues } from '../../../../lambdas/delivery/intake/event-catalogue.ts';
import { partAnswers } from '../../../../lambdas/delivery/store/answer-item.ts';
import { itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { writeItem } from '../../../../lambdas/platform/aws/attribute-values.ts';
import { EVENT_NAMES } from '../../../../lambdas/webhooks/webhook.ts';
import { aDelivery, aRecord, noon } from '../builders.ts';

describe('the head of a delivery', () => {
  it.each(EVENT_NAMES)('is under 1 kB with ten records, of every event: %s', eventName => {
    const record = (number: number): AttemptRecord =>
      aRecord({
        number,
        startedAt: new Date(noon + 259_200_000 + number).toISOString(),
        durationMs: 15_000,
        response: 'x'.repeat(1_024),
      });
    const delivery = aDelivery({
      id: `evt_${'x'.repeat(27)}`,
      accountId: 'integrator-of-24-letters',
      eventName,
      webhookId: 'V1StGXR8Z5jdHi6BmyT3Qa',
      messageId: crypto.randomUUID(),
      body: eventBody(eventName, exampleValues, 'https://demandas.example.com'),
      attempt: 11,
      charged: 10,
      attempts: Array.from({ length: 10 }, (_, at) => record(at + 1)),
      wait: { nextAttemptAt: noon, sweepAt: noon, overdueCount: 0, claimedUntil: noon },
    });
    const item = itemFromDelivery(partAnswers(delivery, undefined).head, 30);
    expect(itemSize(JSON.parse(writeItem(item)))).toBeLessThan(1_000);
  });
});
