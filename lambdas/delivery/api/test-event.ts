import { rateLimited } from '../../api/problem.ts';
import { jsonResponse, type RouteHandler } from '../../api/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import { describeError } from '../../platform/telemetry.ts';
import { requireEventName, suspendedByOperator, webhookNotFound } from '../../webhooks/problems.ts';
import type { WebhookStore } from '../../webhooks/webhook-store.ts';
import { newDelivery, testIdOf } from '../delivery.ts';
import type { DeliveryStore } from '../delivery-store.ts';
import { sampleBody } from '../event.ts';
import type { RetryQueue } from '../retry-queue.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import { dueNow } from '../transitions.ts';
import type { RequestLimits } from './request-limits.ts';

/** What a test needs. */
export interface TestOperationDependencies extends DeliveryTelemetry {
  readonly webhooks: Pick<WebhookStore, 'noteTest'>;
  readonly limits: Pick<RequestLimits, 'countTest'>;
  readonly store: Pick<DeliveryStore, 'create'>;
  readonly retryQueue: Pick<RetryQueue, 'send'>;
  readonly demandsUrl: string;
  readonly makeId: MakeId;
  readonly now: Clock;
}

/**
 * Makes the operation that tests a webhook. The sample event is stored, then attempted in a lane like any other:
 * what is not sent the sweeper finds, and this function needs no receiver's credentials and no way out. That no operator
 * suspended is the condition of a write to the webhook, not only of a reading before.
 */
export function makeTestOperation(dependencies: TestOperationDependencies): RouteHandler {
  const { webhooks, limits, store, retryQueue, demandsUrl, makeId, now, log, count } = dependencies;
  return async function testOperation(context) {
    const eventName = requireEventName(context);
    const { accountId } = context.caller;
    const webhook = await webhooks.noteTest(accountId, eventName, now());
    if (!webhook) throw webhookNotFound();
    if (webhook.suspensionReason === 'operator') throw suspendedByOperator();
    const seconds = await limits.countTest(accountId);
    if (seconds !== undefined) {
      throw rateLimited('The account has used up its tests of this minute: wait as long as Retry-After says.', seconds);
    }

    const moment = now();
    const { webhookId } = webhook;
    const origin = { accountId, eventName, webhookId, body: sampleBody(eventName, demandsUrl), createdAt: moment };
    const delivery = dueNow(newDelivery({ ...origin, id: testIdOf(makeId(22)) }), moment);
    await store.create(delivery);
    try {
      await retryQueue.send(delivery);
    } catch (error) {
      count('RetryNotSent');
      log.error('delivery.test_not_sent', { ...describeDelivery(delivery), ...describeError(error) });
    }
    return jsonResponse(202, { id: delivery.id });
  };
}
