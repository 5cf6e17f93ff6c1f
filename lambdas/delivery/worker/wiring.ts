import { KMSClient } from '@aws-sdk/client-kms';
import { makeBatchedReads } from '../../platform/batched-reads.ts';
import { clientSettings } from '../../platform/client-settings.ts';
import { systemClock } from '../../platform/clock.ts';
import { makeDynamo } from '../../platform/dynamo.ts';
import { makeGuardedPost } from '../../platform/egress/guarded-post.ts';
import { makeReachability } from '../../platform/egress/reachability.ts';
import { makeResolver } from '../../platform/egress/resolver.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import { makeSealing } from '../../platform/sealing.ts';
import { makeDeliveryStore } from '../delivery-store.ts';
import { deliverEnvironment } from '../environment.ts';
import { makeAttemptsUnderWay } from '../isolation/attempts-under-way.ts';
import { makeProcessLateness } from '../isolation/process-lateness.ts';
import { makeRecentCounts } from '../isolation/recent-counts.ts';
import { makeHandOver } from '../isolation/slow-lane.ts';
import { makeSlownessNotes } from '../isolation/slowness-notes.ts';
import { makeSlownessStore } from '../isolation/slowness-store.ts';
import { makeUnansweredNames } from '../isolation/unanswered-names.ts';
import { attemptsPerWebhook, connectTimeouts, storingPatience } from '../limits.ts';
import { makeHasMessages, makeRetryQueue, makeSendToDeadLetters, makeSqs } from '../queues.ts';
import { makeDeliveryTelemetry } from '../telemetry.ts';
import { makeAfterAttempt } from '../transitions.ts';
import { makeAttempt } from './attempt.ts';
import { makeNoteHealth } from './health-notes.ts';
import { makeHeedGone } from './heed-gone.ts';
import { makeProcessDelivery } from './process-delivery.ts';
import { makeWatchAttempt, systemTimer } from './slow-attempt-timer.ts';
import { makeWebhookHealth } from './webhook-health.ts';
import { makeFindWebhookState } from './webhook-state.ts';

/** Builds, from the environment, what all consumers stand on: they differ only in how they read their messages. */
export function wireConsumer() {
  const environment = readEnvironment(deliverEnvironment);
  const telemetry = makeDeliveryTelemetry(`deliver-${environment.LANE}`);
  const dynamo = makeDynamo();
  const sqs = makeSqs();
  const kms = new KMSClient(clientSettings);
  const now = systemClock;

  const deliveries = {
    dynamo,
    table: environment.DELIVERIES_TABLE,
    now,
    historyDays: environment.HISTORY_DAYS,
  };
  const store = makeDeliveryStore({
    ...deliveries,
    readItems: makeBatchedReads(dynamo),
    patience: storingPatience,
  });
  const attempt = makeAttempt({
    post: makeGuardedPost({
      resolve: makeResolver(),
      ownHosts: environment.OWN_HOSTS,
      reachability: makeReachability({ now }),
      now,
      random: Math.random,
    }),
    sealing: makeSealing(makeKeyring({ dynamo, kms, tableName: environment.KEYRING_TABLE, now })),
    now,
    timeoutMs: environment.ATTEMPT_TIMEOUT_MS,
    connectTimeoutMs: connectTimeouts[environment.LANE],
    serviceVersion: environment.SERVICE_VERSION,
  });
  const health = makeWebhookHealth({ dynamo, table: environment.WEBHOOKS_TABLE, now });
  const slownessStore = makeSlownessStore({
    dynamo,
    table: environment.DELIVERIES_TABLE,
    now,
    rate: environment.SLOW_RATE,
  });
  const queues = {
    retry: makeRetryQueue({ sqs, queueUrl: environment.RETRY_QUEUE_URL, now }),
    slow: makeRetryQueue({ sqs, queueUrl: environment.SLOW_QUEUE_URL, now }),
  };
  const processDelivery = makeProcessDelivery({
    ...telemetry,
    attempt,
    afterAttempt: makeAfterAttempt({ schedule: environment.RETRY_SCHEDULE, now, random: Math.random }),
    watchAttempt: makeWatchAttempt({
      notes: makeSlownessNotes({ ...telemetry, store: slownessStore, quickCounts: makeRecentCounts(), now }),
      lateness: makeProcessLateness(),
      names: makeUnansweredNames(now),
      hasMessages: makeHasMessages({ ...telemetry, sqs, queueUrl: environment.QUEUE_URL, now }),
      after: systemTimer,
      now,
      lane: environment.LANE,
      giveUp: environment.GIVE_UP,
      attemptTimeout: environment.ATTEMPT_TIMEOUT_MS,
    }),
    underWay: makeAttemptsUnderWay(attemptsPerWebhook),
    handOver: makeHandOver({ ...telemetry, slownessStore, store, slowQueue: queues.slow, now }),
    heedGone: makeHeedGone({ ...telemetry, health }),
    noteHealth: makeNoteHealth({ ...telemetry, health, now }),
    lane: environment.LANE,
    queues,
    now,
    random: Math.random,
  });
  return {
    environment,
    telemetry,
    sqs,
    now,
    deliveries,
    store,
    processDelivery,
    findWebhookState: makeFindWebhookState(store, {
      deliveries: environment.DELIVERIES_TABLE,
      webhooks: environment.WEBHOOKS_TABLE,
    }),
    sendToDeadLetters: makeSendToDeadLetters({ sqs, queueUrl: environment.DEAD_LETTER_QUEUE_URL }),
  };
}
