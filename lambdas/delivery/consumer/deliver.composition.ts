import { makeBatchedReads } from '../../platform/aws/batch-get.ts';
import { makeGuardedPost } from '../../platform/egress/guarded-post.ts';
import { makeSharedResolver } from '../../platform/egress/shared-resolver.ts';
import { makeDecryption } from '../../platform/encryption.ts';
import type { Environment } from '../../platform/environment.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import type { Runtime } from '../../platform/runtime.ts';
import { connectTimeouts, makeAttempt } from '../attempt/attempt.ts';
import { makeStartAttemptWatch } from '../attempt/attempt-watch.ts';
import type { deliverEnvironment } from '../environment.ts';
import { makeMoveToDeadLetters } from '../intake/dead-letters.ts';
import { makePublishNotice } from '../intake/rejected-events-topic.ts';
import { makeRejectionNotices } from '../intake/rejection-notices.ts';
import { makeUnregisteredEvents } from '../intake/unregistered-events.ts';
import { makeAdmission } from '../lanes/admission.ts';
import { attemptsPerProcess, fastLaneSlots, makeConcurrencyLimit, slowLaneSlots } from '../lanes/concurrency-limit.ts';
import { makeRecentCounts } from '../lanes/recent-counts.ts';
import { makeSlownessStore } from '../lanes/slowness-store.ts';
import { makeSlownessTracker } from '../lanes/slowness-tracker.ts';
import { makeWebhookHealth } from '../outcome/webhook-health.ts';
import { makeWebhookHealthStore } from '../outcome/webhook-health-store.ts';
import { makeAttemptQueue } from '../queues.ts';
import { makeDeliveryStore } from '../store/delivery-store.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { makeApplyOutcome } from '../transitions.ts';
import { type Consumer, makeConsumer } from './batch-consumer.ts';
import { makeDescribeEvent, makeFirstAttempt } from './first-attempt.ts';
import { makeProcessDelivery } from './process-delivery.ts';
import { describeAttemptMessage, makeRetry } from './retry.ts';
import { makeFindWebhookState } from './webhook-state.ts';

/** Assembles the consumer for a lane. The `first` lane consumes events, and the other lanes consume messages for attempts. */
export function composeDeliver(
  environment: Environment<typeof deliverEnvironment>,
  runtime: Pick<Runtime, 'dynamo' | 'sqs' | 'kms' | 'publish' | 'resolve' | 'post' | 'time' | 'random'>,
  telemetry: DeliveryTelemetry,
): Consumer {
  const { lane, retrySchedule: schedule } = environment;
  const { time, dynamo, sqs } = runtime;
  const tables = { deliveries: environment.deliveriesTable, webhooks: environment.webhooksTable };
  const shared = { ...environment, ...telemetry, ...time, ...runtime, random: runtime.random.number };
  const deliveryStoreParts = { ...shared, table: tables.deliveries };
  const queues = {
    retry: makeAttemptQueue({ ...time, sqs, queueUrl: environment.retryQueueUrl }),
    slow: makeAttemptQueue({ ...time, sqs, queueUrl: environment.slowQueueUrl }),
  };
  const store = makeDeliveryStore({
    ...deliveryStoreParts,
    readItems: makeBatchedReads(dynamo),
    retryForMs: storeRetryTime,
    writesTogether: true,
  });

  const keyring = makeKeyring({ ...shared, table: environment.keyringTable });
  keyring.prefetch('encryption');
  const attempt = makeAttempt({
    ...shared,
    post: makeGuardedPost({ ...shared, resolve: makeSharedResolver(runtime.resolve, time.now) }),
    encryption: makeDecryption(keyring),
    connectTimeoutMs: connectTimeouts[lane],
  });

  const maxInFlight = attemptsPerProcess[lane];
  const slotsOf = lane === 'slow' ? slowLaneSlots(environment.slowConcurrency) : fastLaneSlots;
  const limit = makeConcurrencyLimit(slotsOf, maxInFlight, time.elapsed);
  const tracker = makeSlownessTracker({
    ...shared,
    store: makeSlownessStore(deliveryStoreParts),
    quickCounts: makeRecentCounts(),
  });

  const processDelivery = makeProcessDelivery({
    ...{ ...shared, attempt, queues },
    startAttemptWatch: makeStartAttemptWatch({ ...shared, tracker }),
    applyOutcome: makeApplyOutcome({ ...shared, schedule }),
    health: makeWebhookHealth({ ...shared, store: makeWebhookHealthStore({ ...shared, table: tables.webhooks }) }),
  });
  const processing = {
    ...{ ...shared, store, processDelivery },
    admit: makeAdmission({ limit, lane }),
    findWebhookState: makeFindWebhookState(store, tables),
    moveToDeadLetters: makeMoveToDeadLetters(shared),
  };
  const rejectionNotices = makeRejectionNotices({
    ...shared,
    publish: makePublishNotice(runtime.publish, environment.rejectedEventsTopicArn),
  });
  const unregisteredEvents = makeUnregisteredEvents(deliveryStoreParts);

  return makeConsumer({
    ...{ ...shared, maxInFlight },
    hasCapacityFor: limit.hasCapacityFor,
    process:
      lane === 'first'
        ? makeFirstAttempt({ ...processing, rejectionNotices, unregisteredEvents })
        : makeRetry(processing),
    describe: lane === 'first' ? makeDescribeEvent(environment.demandsUrl) : describeAttemptMessage,
    settled: async () => void (await Promise.all([rejectionNotices.settled(), unregisteredEvents.settled()])),
  });
}

/** A failed write of an outcome is retried for this many milliseconds, because an outcome that is not stored causes another POST. */
const storeRetryTime = 2_000;
