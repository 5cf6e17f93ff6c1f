import { KMSClient } from '@aws-sdk/client-kms';
import { clientSettings } from '../platform/client-settings.ts';
import { systemClock } from '../platform/clock.ts';
import { makeDocuments } from '../platform/dynamodb.ts';
import { makeGuardedPost } from '../platform/egress/guarded-post.ts';
import { makeReachability } from '../platform/egress/reachability.ts';
import { makeResolver } from '../platform/egress/resolver.ts';
import { readEnvironment } from '../platform/environment.ts';
import { makeKeyring } from '../platform/keyring.ts';
import { makeSealing } from '../platform/sealing.ts';
import { makeAttempt } from './attempt.ts';
import { makeDeadLetters } from './dead-letters.ts';
import { makeDeliveryStore } from './delivery-store.ts';
import { deliverEnvironment } from './environment.ts';
import { makeNoteHealth } from './health-notes.ts';
import { makeAfterAttempt } from './lifecycle.ts';
import { makeLookup } from './lookup.ts';
import { makeRetryQueue } from './retry-queue.ts';
import { makeWatchForSlowness, systemTimer } from './slow-watch.ts';
import { makeSqs } from './sqs-client.ts';
import { makeNoteSuspension } from './suspension-notice.ts';
import { makeDeliveryTelemetry } from './telemetry.ts';
import { makeTakeTurn } from './turn.ts';
import { makeWebhookHealth } from './webhook-health.ts';

/** Builds, from the environment, what all consumers stand on: they differ only in how they read their messages. */
export const wireConsumer = (serviceName: string) => {
  const environment = readEnvironment(deliverEnvironment);
  const telemetry = makeDeliveryTelemetry(serviceName);
  const documents = makeDocuments();
  const sqs = makeSqs();
  const kms = new KMSClient(clientSettings);
  const now = systemClock;

  const deliveries = {
    documents,
    table: environment.DELIVERIES_TABLE,
    now,
    historyDays: environment.HISTORY_DAYS,
  };
  const store = makeDeliveryStore(deliveries);
  const attempt = makeAttempt({
    post: makeGuardedPost({
      resolve: makeResolver(),
      ownHosts: environment.OWN_HOSTS,
      reachability: makeReachability({ now }),
      now,
      random: Math.random,
    }),
    sealing: makeSealing(makeKeyring({ documents, kms, tableName: environment.KEYRING_TABLE, now })),
    now,
    timeoutMs: environment.ATTEMPT_TIMEOUT_MS,
    serviceVersion: environment.SERVICE_VERSION,
  });
  const health = makeWebhookHealth({ documents, table: environment.WEBHOOKS_TABLE, now });
  const takeTurn = makeTakeTurn({
    ...telemetry,
    attempt,
    afterAttempt: makeAfterAttempt({ schedule: environment.RETRY_SCHEDULE, now, random: Math.random }),
    watchForSlowness: makeWatchForSlowness({ ...telemetry, health, after: systemTimer }),
    noteHealth: makeNoteHealth({
      ...telemetry,
      health,
      noteSuspension: makeNoteSuspension({ documents, table: environment.DELIVERIES_TABLE, now }),
      now,
    }),
    lane: environment.LANE,
    queues: {
      retry: makeRetryQueue({ sqs, queueUrl: environment.RETRY_QUEUE_URL, now }),
      slow: makeRetryQueue({ sqs, queueUrl: environment.SLOW_QUEUE_URL, now }),
    },
    now,
  });
  return {
    environment,
    telemetry,
    sqs,
    now,
    deliveries,
    store,
    takeTurn,
    lookup: makeLookup(store, environment.WEBHOOKS_TABLE),
    sendToDeadLetters: makeDeadLetters({ sqs, queueUrl: environment.DEAD_LETTER_QUEUE_URL }),
  };
};
