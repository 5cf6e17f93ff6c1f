import { consumerTimeout, queueOf } from '../../../lab/world/stage.ts';
import { composeDeliveriesApi } from '../../../lambdas/base-api/deliveries-api.composition.ts';
import { composeWebhooksApi } from '../../../lambdas/base-api/webhooks-api.composition.ts';
import { makeResend } from '../../../lambdas/delivery/api/resend.ts';
import { composeDeliver } from '../../../lambdas/delivery/consumer/deliver.composition.ts';
import type { Delivery } from '../../../lambdas/delivery/delivery.ts';
import { type Lane, lanes } from '../../../lambdas/delivery/lane-routing.ts';
import { makeAttemptQueue } from '../../../lambdas/delivery/queues.ts';
import { makeDeliveryStore } from '../../../lambdas/delivery/store/delivery-store.ts';
import { composeSweep } from '../../../lambdas/delivery/sweeper/sweep.composition.ts';
import type { DeliveryTelemetry, SweepTelemetry } from '../../../lambdas/delivery/telemetry.ts';
import type { HttpRequest } from '../../../lambdas/platform/http.ts';
import { environment } from './environment.ts';
import type { makeServices } from './services.ts';
import type { Start } from './stepped-cloud.ts';

/**
 * Returns the functions of delivery by their names: a consumer for each lane, `sweep`, `api`, and `resend`, which stands for the
 * owner's. Beside them is that of webhooks.
 */
export function deliveryFunctions({ waits, telemetry, outsideOf }: FunctionsParts): Readonly<Record<string, Start>> {
  return { ...Object.fromEntries(lanes.map(lane => [lane, consumerOf(lane)])), sweep, api, webhooks, resend };

  /** Each message of the first lane gets a composition of its own: it knows of nothing that others met. */
  function consumerOf(lane: Lane): Start {
    return process => {
      const own = { lane, queueUrl: queueOf[lane], retrySchedule: [...waits] };
      const compose = () => composeDeliver({ ...environment, ...own }, outsideOf(process, lane), telemetry);
      const kept = lane === 'first' ? undefined : compose();
      return (event: Parameters<ReturnType<typeof compose>>[0]) => {
        const consume = kept ?? compose();
        const end = process.time.now() + consumerTimeout;
        return consume(event, { getRemainingTimeInMillis: () => end - process.time.now() });
      };
    };
  }

  function sweep(...[process]: Parameters<Start>) {
    const run = composeSweep(environment, outsideOf(process), telemetry);
    return () => run(undefined, { getRemainingTimeInMillis: () => sweepTimeout });
  }

  function api(...[process]: Parameters<Start>) {
    const answer = composeDeliveriesApi(environment, outsideOf(process), telemetry);
    return (request: HttpRequest) => answer(request);
  }

  function webhooks(...[process]: Parameters<Start>) {
    const answer = composeWebhooksApi(environment, outsideOf(process), telemetry);
    return (request: HttpRequest) => answer(request);
  }

  function resend(...[process]: Parameters<Start>) {
    const { time, dynamo, sqs } = outsideOf(process);
    const store = makeDeliveryStore({ ...time, dynamo, table: 'Deliveries' });
    const retryQueue = makeAttemptQueue({ ...time, sqs, queueUrl: environment.retryQueueUrl });
    return ({ delivery, ago }: { delivery: Delivery; ago: number }) =>
      makeResend({ ...telemetry, store, retryQueue, now: () => time.now() - ago })(delivery);
  }
}

interface FunctionsParts {
  /** Those of the retry schedule, in milliseconds. */
  readonly waits: readonly number[];
  readonly telemetry: DeliveryTelemetry & SweepTelemetry;
  readonly outsideOf: ReturnType<typeof makeServices>['outsideOf'];
}

/** What is always left of it to a sweep, in milliseconds: one that stands still for long is to do as much harm as it can. */
const sweepTimeout = 55_000;
