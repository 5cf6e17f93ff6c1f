import type * as z from 'zod/mini';
import { makeBatchedReads } from '../../platform/aws/batch-get.ts';
import type { Outside } from '../../platform/outside.ts';
import type { deliverEnvironment } from '../environment.ts';
import { makeIsolation } from '../isolation/isolation.ts';
import { attemptsPerProcess, storeRetryTime } from '../limits.ts';
import { makeAttemptQueue, makeHasMessages } from '../queues.ts';
import { makeDeliveryStore } from '../store/delivery-store.ts';
import type { MeasuringTelemetry } from '../telemetry.ts';
import { makeAttempts } from './attempts.ts';
import { type Consumer, makeConsumer } from './batch-consumer.ts';
import { makeMessageProcessing } from './message-processing.ts';

/** Composes the consumer of a lane: of events in the first lane, of attempts in the others. */
export function composeDeliver(
  environment: z.infer<typeof deliverEnvironment>,
  outside: Pick<Outside, 'dynamo' | 'sqs' | 'kms' | 'publish' | 'resolve' | 'post' | 'time' | 'random'>,
  telemetry: MeasuringTelemetry,
): Consumer {
  const { LANE: lane, ATTEMPT_TIMEOUT_MS: attemptTimeoutMs, QUEUE_URL: queueUrl } = environment;
  const { time, random, ...services } = outside;
  const { dynamo, sqs } = services;
  const tables = { deliveries: environment.DELIVERIES_TABLE, webhooks: environment.WEBHOOKS_TABLE };
  const shared = { ...telemetry, ...time, ...services, queueUrl, lane, attemptTimeoutMs, random: random.number };

  const store = makeDeliveryStore({
    ...time,
    dynamo,
    table: tables.deliveries,
    historyDays: environment.HISTORY_DAYS,
    readItems: makeBatchedReads(dynamo),
    retryForMs: storeRetryTime,
    writesTogether: true,
  });
  const queues = {
    retry: makeAttemptQueue({ ...time, sqs, queueUrl: environment.RETRY_QUEUE_URL }),
    slow: makeAttemptQueue({ ...time, sqs, queueUrl: environment.SLOW_QUEUE_URL }),
  };
  const isolation = makeIsolation({
    ...shared,
    table: tables.deliveries,
    store,
    slowQueue: queues.slow,
    slowRate: environment.SLOW_RATE,
  });
  const attempts = makeAttempts({
    ...shared,
    keyringTable: environment.KEYRING_TABLE,
    isolation,
    hasMessages: makeHasMessages(shared),
    giveUp: environment.GIVE_UP,
    ownHosts: environment.OWN_HOSTS,
    serviceVersion: environment.SERVICE_VERSION,
  });
  const processing = makeMessageProcessing({
    ...shared,
    tables,
    store,
    queues,
    deadLetterQueueUrl: environment.DEAD_LETTER_QUEUE_URL,
    refusedEventsTopicArn: environment.REFUSED_EVENTS_TOPIC_ARN,
    isolation,
    attempts,
    schedule: environment.RETRY_SCHEDULE,
    demandsUrl: environment.DEMANDS_URL,
  });
  const { hasRoomFor } = isolation;
  return makeConsumer({ ...shared, ...processing, hasRoomFor, maxInFlight: attemptsPerProcess[lane] });
}
