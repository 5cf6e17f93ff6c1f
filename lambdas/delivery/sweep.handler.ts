import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { systemClock } from '../platform/clock.ts';
import { makeDocuments } from '../platform/dynamodb.ts';
import { readEnvironment } from '../platform/environment.ts';
import { makeDeliveryStore } from './delivery-store.ts';
import { sweepEnvironment } from './environment.ts';
import { makeRetryQueue } from './retry-queue.ts';
import { makeSqs } from './sqs-client.ts';
import { makeSweep } from './sweep.ts';
import { makeDeliveryTelemetry } from './telemetry.ts';

/** What is left to the next minute's sweep: a page takes less than this, in milliseconds. */
const timeForOnePage = 12_000;

const environment = readEnvironment(sweepEnvironment);
const telemetry = makeDeliveryTelemetry('sweep');
const now = systemClock;

const sweep = makeSweep({
  ...telemetry,
  store: makeDeliveryStore({
    documents: makeDocuments(),
    table: environment.DELIVERIES_TABLE,
    now,
    historyDays: environment.HISTORY_DAYS,
  }),
  retryQueue: makeRetryQueue({ sqs: makeSqs(), queueUrl: environment.RETRY_QUEUE_URL, now }),
  now,
});

/** Every minute: sends what falls due and brings back what is overdue. */
export const handler = middy()
  .use(injectLambdaContext(telemetry.logger))
  .use(logMetrics(telemetry.metrics))
  .handler(async (_event: unknown, context: Context) => {
    telemetry.count('SweptDue', 0); // the sweeper's heartbeat
    await sweep(() => context.getRemainingTimeInMillis() > timeForOnePage);
  });
