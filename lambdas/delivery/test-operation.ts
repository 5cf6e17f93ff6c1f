import type { Clock } from '../platform/clock.ts';
import type { MakeId } from '../platform/identifiers.ts';
import { describeError } from '../platform/telemetry.ts';
import { Problem, webhookNotFound } from '../webhooks/problem.ts';
import { answer, eventIn, type Operation } from '../webhooks/resource.ts';
import { newDelivery, testIdOf } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { sampleBody } from './event.ts';
import { dueNow } from './lifecycle.ts';
import type { FindWebhook } from './lookup.ts';
import type { RetryQueue } from './retry-queue.ts';
import { type DeliveryTelemetry, describeDelivery } from './telemetry.ts';
import type { CountTest } from './test-limit.ts';

/** What a test stands on. */
export interface TestOperationDependencies extends DeliveryTelemetry {
  readonly findWebhook: FindWebhook;
  readonly countTest: CountTest;
  readonly store: Pick<DeliveryStore, 'create'>;
  readonly retryQueue: Pick<RetryQueue, 'send'>;
  readonly demandsUrl: string;
  readonly makeId: MakeId;
  readonly now: Clock;
}

const rateLimited = (seconds: number): Problem =>
  new Problem(429, 'rate_limited', 'A webhook takes ten tests a minute: wait as long as Retry-After says.', {
    headers: { 'retry-after': String(seconds) },
  });

/**
 * Makes the operation that tests a webhook. The sample event is stored, then attempted in a lane like any other:
 * what is not sent the sweeper finds, and this function needs no receiver's credentials and no way out.
 */
export const makeTestOperation = (dependencies: TestOperationDependencies): Operation => {
  const { findWebhook, countTest, store, retryQueue, demandsUrl, makeId, now, log, count } = dependencies;
  return async call => {
    const evento = eventIn(call);
    const { accountId } = call.caller;
    const webhook = await findWebhook(accountId, evento);
    if (!webhook) throw webhookNotFound();
    const seconds = await countTest(accountId, evento);
    if (seconds !== undefined) throw rateLimited(seconds);

    const moment = now();
    const { webhookId } = webhook;
    const origin = { accountId, evento, webhookId, body: sampleBody(evento, demandsUrl), createdAt: moment };
    const delivery = dueNow(newDelivery({ ...origin, id: testIdOf(makeId(22)) }), moment);
    await store.create(delivery);
    try {
      await retryQueue.send(delivery);
    } catch (error) {
      count('RetryNotSent');
      log.error('test not sent; the sweeper will', { ...describeDelivery(delivery), ...describeError(error) });
    }
    return answer(202, { id: delivery.id });
  };
};
