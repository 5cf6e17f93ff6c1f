import { makeBatchedReads } from '../../platform/aws/batch-get.ts';
import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { makeKms } from '../../platform/aws/kms.ts';
import { systemClock } from '../../platform/clock.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeHandler } from '../../platform/lambda-handler.ts';
import { deliverEnvironment } from '../environment.ts';
import { makeIsolation } from '../isolation/isolation.ts';
import { attemptsPerProcess, storeRetryTime } from '../limits.ts';
import { makeAttemptQueue, makeHasMessages, makeSqs } from '../queues.ts';
import { makeDeliveryStore } from '../store/delivery-store.ts';
import { makeDeliveryTelemetry } from '../telemetry.ts';
import { makeAttempts } from './attempts.ts';
import { makeConsumer, systemPause } from './batch-consumer.ts';
import { makeMessageProcessing } from './message-processing.ts';

const environment = readEnvironment(deliverEnvironment);
const { LANE: lane, ATTEMPT_TIMEOUT_MS: attemptTimeoutMs, QUEUE_URL: queueUrl } = environment;
const telemetry = makeDeliveryTelemetry(`deliver-${lane}`, 'delivery');
const dynamo = makeDynamo();
const sqs = makeSqs();
const now = systemClock;
const tables = { deliveries: environment.DELIVERIES_TABLE, webhooks: environment.WEBHOOKS_TABLE };
const shared = { ...telemetry, dynamo, sqs, queueUrl, lane, attemptTimeoutMs, now, random: Math.random };

const store = makeDeliveryStore({
  dynamo,
  table: tables.deliveries,
  now,
  historyDays: environment.HISTORY_DAYS,
  readItems: makeBatchedReads(dynamo),
  retryForMs: storeRetryTime,
  writesTogether: true,
});
const queues = {
  retry: makeAttemptQueue({ sqs, queueUrl: environment.RETRY_QUEUE_URL, now }),
  slow: makeAttemptQueue({ sqs, queueUrl: environment.SLOW_QUEUE_URL, now }),
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
  kms: makeKms(),
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
const consume = makeConsumer({
  ...shared,
  ...processing,
  maxInFlight: attemptsPerProcess[lane],
  pause: systemPause,
});

/** Makes attempts. One entry for the consumers of three queues, which are three functions: the lane says which one it is. */
export const handler = makeHandler(telemetry, consume);
