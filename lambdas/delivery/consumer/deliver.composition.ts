import { makeBatchedReads } from '../../platform/aws/batch-get.ts';
import type { Environment } from '../../platform/environment.ts';
import type { Outside } from '../../platform/outside.ts';
import { makeAttempts } from '../attempt/attempts.ts';
import type { deliverEnvironment } from '../environment.ts';
import { attemptsPerProcess } from '../lanes/concurrency-limit.ts';
import { makeIsolation } from '../lanes/isolation.ts';
import { makeAttemptQueue } from '../queues.ts';
import { makeDeliveryStore } from '../store/delivery-store.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { type Consumer, makeConsumer } from './batch-consumer.ts';
import { makeMessageProcessing } from './message-processing.ts';

/** Composes the consumer of a lane: of events in the first lane, of attempts in the others. */
export function composeDeliver(
  environment: Environment<typeof deliverEnvironment>,
  outside: Pick<Outside, 'dynamo' | 'sqs' | 'kms' | 'publish' | 'resolve' | 'post' | 'time' | 'random'>,
  telemetry: DeliveryTelemetry,
): Consumer {
  const { time, random, ...services } = outside;
  const { dynamo, sqs } = services;
  const tables = { deliveries: environment.deliveriesTable, webhooks: environment.webhooksTable };
  const shared = { ...environment, ...telemetry, ...time, ...services, random: random.number };

  const store = makeDeliveryStore({
    ...time,
    dynamo,
    table: tables.deliveries,
    readItems: makeBatchedReads(dynamo),
    retryForMs: storeRetryTime,
    writesTogether: true,
  });
  const queues = {
    retry: makeAttemptQueue({ ...time, sqs, queueUrl: environment.retryQueueUrl }),
    slow: makeAttemptQueue({ ...time, sqs, queueUrl: environment.slowQueueUrl }),
  };
  const isolation = makeIsolation({
    ...shared,
    table: tables.deliveries,
  });
  const attempts = makeAttempts({
    ...shared,
    isolation,
  });
  const processing = makeMessageProcessing({
    ...shared,
    tables,
    store,
    queues,
    isolation,
    attempts,
    schedule: environment.retrySchedule,
  });
  const { hasRoomFor } = isolation;
  return makeConsumer({ ...shared, ...processing, hasRoomFor, maxInFlight: attemptsPerProcess[environment.lane] });
}

/** The writing of an outcome that gets no answer is repeated for this long: what is not stored is POSTed again. */
const storeRetryTime = 2_000;
