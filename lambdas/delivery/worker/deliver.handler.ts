import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import { KMSClient } from '@aws-sdk/client-kms';
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { makeBatchedReads } from '../../platform/batch-get.ts';
import { clientSettings } from '../../platform/client-settings.ts';
import { systemClock } from '../../platform/clock.ts';
import { makeDynamo } from '../../platform/dynamo.ts';
import { makeGuardedPost } from '../../platform/egress/guarded-post.ts';
import { makeOutageDetector } from '../../platform/egress/outage-detector.ts';
import { makeResolver } from '../../platform/egress/resolver.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeEventLoopLag } from '../../platform/event-loop-lag.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import { makeSealing } from '../../platform/sealing.ts';
import { afterEvents } from '../../platform/timer.ts';
import { deliverEnvironment } from '../environment.ts';
import { makeSendToDeadLetters } from '../intake/dead-letters.ts';
import { makeFirstAttempt } from '../intake/first-attempt.ts';
import { makeAdmission } from '../isolation/admission.ts';
import { makeConcurrencyLimit } from '../isolation/concurrency-limit.ts';
import { makeDnsTimeouts } from '../isolation/dns-timeouts.ts';
import { makeRecentCounts } from '../isolation/recent-counts.ts';
import { makeSlotReservations } from '../isolation/slot-reservations.ts';
import { makeMoveToSlowLane } from '../isolation/slow-lane.ts';
import { makeSlownessStore } from '../isolation/slowness-store.ts';
import { makeSlownessTracker } from '../isolation/slowness-tracker.ts';
import { attemptsPerProcess, attemptsPerWebhook, connectTimeouts, storeRetryTime } from '../limits.ts';
import { makeAttemptQueue, makeHasMessages, makeSqs } from '../queues.ts';
import { makeRefusalCounts } from '../refusals/refusal-counts.ts';
import { makeRefusalNotices } from '../refusals/refusal-notices.ts';
import { makePublishNotice } from '../refusals/refused-events-topic.ts';
import { makeReplayReader } from '../replay/replay-store.ts';
import { makeDeliveryStore } from '../store/delivery-store.ts';
import { makeWebhookHealthStore } from '../store/webhook-health-store.ts';
import { makeDeliveryTelemetry } from '../telemetry.ts';
import { makeApplyOutcome } from '../transitions.ts';
import { makeAttempt } from './attempt.ts';
import { makeStartAttemptWatch } from './attempt-watch.ts';
import { makeConsumer, systemPause } from './batch-consumer.ts';
import { makeProcessDelivery } from './process-delivery.ts';
import { makeRetry } from './retry.ts';
import { makeWebhookHealth } from './webhook-health.ts';
import { makeFindWebhookState } from './webhook-state.ts';

const environment = readEnvironment(deliverEnvironment);
const { LANE: lane, ATTEMPT_TIMEOUT_MS: attemptTimeoutMs } = environment;
const telemetry = makeDeliveryTelemetry(`deliver-${lane}`);
const dynamo = makeDynamo();
const sqs = makeSqs();
const kms = new KMSClient(clientSettings);
const now = systemClock;
const random = Math.random;

const deliveries = { dynamo, table: environment.DELIVERIES_TABLE, now, historyDays: environment.HISTORY_DAYS };
const store = makeDeliveryStore({
  ...deliveries,
  readItems: makeBatchedReads(dynamo),
  retryForMs: storeRetryTime,
});
const slownessStore = makeSlownessStore({ ...deliveries, rate: environment.SLOW_RATE });
const health = makeWebhookHealth({
  ...telemetry,
  store: makeWebhookHealthStore({ dynamo, table: environment.WEBHOOKS_TABLE, now }),
  now,
});
const queues = {
  retry: makeAttemptQueue({ sqs, queueUrl: environment.RETRY_QUEUE_URL, now }),
  slow: makeAttemptQueue({ sqs, queueUrl: environment.SLOW_QUEUE_URL, now }),
};
const eventLoopLag = makeEventLoopLag();
const attempt = makeAttempt({
  post: makeGuardedPost({
    resolve: makeResolver(),
    ownHosts: environment.OWN_HOSTS,
    outageDetector: makeOutageDetector({ now }),
    now,
    random,
  }),
  sealing: makeSealing(makeKeyring({ dynamo, kms, table: environment.KEYRING_TABLE, now })),
  eventLoopLag,
  now,
  attemptTimeoutMs,
  connectTimeoutMs: connectTimeouts[lane],
  serviceVersion: environment.SERVICE_VERSION,
});
const startAttemptWatch = makeStartAttemptWatch({
  tracker: makeSlownessTracker({ ...telemetry, store: slownessStore, quickCounts: makeRecentCounts(), now }),
  eventLoopLag,
  dnsTimeouts: makeDnsTimeouts(now),
  hasMessages: makeHasMessages({ ...telemetry, sqs, queueUrl: environment.QUEUE_URL, now }),
  after: afterEvents,
  now,
  lane,
  giveUp: environment.GIVE_UP,
  attemptTimeoutMs,
});
const processDelivery = makeProcessDelivery({
  ...telemetry,
  attempt,
  applyOutcome: makeApplyOutcome({ schedule: environment.RETRY_SCHEDULE, now, random }),
  startAttemptWatch,
  moveToSlowLane: makeMoveToSlowLane({
    ...telemetry,
    slownessStore,
    reserveSlot: makeSlotReservations(slownessStore),
    store,
    slowQueue: queues.slow,
    now,
  }),
  health,
  lane,
  queues,
  now,
  random,
});
const shared = {
  ...telemetry,
  admit: makeAdmission({ limit: makeConcurrencyLimit(attemptsPerWebhook), lane }),
  store,
  processDelivery,
  findWebhookState: makeFindWebhookState(store, {
    deliveries: environment.DELIVERIES_TABLE,
    webhooks: environment.WEBHOOKS_TABLE,
  }),
  sendToDeadLetters: makeSendToDeadLetters({ sqs, queueUrl: environment.DEAD_LETTER_QUEUE_URL }),
  now,
};
const refusals = makeRefusalNotices({
  ...telemetry,
  counts: makeRefusalCounts(deliveries),
  publish: makePublishNotice(environment.REFUSED_EVENTS_TOPIC_ARN),
  now,
});
const processRecord =
  lane === 'first'
    ? makeFirstAttempt({ ...shared, refusals, demandsUrl: environment.DEMANDS_URL })
    : makeRetry({ ...shared, replays: makeReplayReader(deliveries), lane });

const consume = makeConsumer({
  ...telemetry,
  process: processRecord,
  sqs,
  queueUrl: environment.QUEUE_URL,
  attemptTimeoutMs,
  maxInFlight: attemptsPerProcess[lane],
  pause: systemPause,
  random,
});

/** Makes attempts. One entry for the consumers of three queues, which are three functions: the lane says which one it is. */
export const handler = middy<SQSEvent, SQSBatchResponse>()
  .use(injectLambdaContext(telemetry.logger))
  .use(logMetrics(telemetry.metrics))
  .handler(async (event, context) => {
    const answer = await consume(event, context);
    await refusals.settled(); // after the answer the process stands still
    return answer;
  });
