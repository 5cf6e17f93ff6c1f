import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { attemptsPerProcess } from '../limits.ts';
import { makeReplayStore } from '../replay/replay-store.ts';
import { makeConsumer, systemPause } from './batch-consumer.ts';
import { makeRedeliver } from './retry.ts';
import { wireConsumer } from './wiring.ts';

const { environment, telemetry, ...dependencies } = wireConsumer();

const replays = makeReplayStore(dependencies.deliveries);
const redeliver = makeRedeliver({ ...telemetry, ...dependencies, replays, lane: environment.LANE });

/** Further attempts: consumes the retry queue, and once more the slow queue. */
export const handler = middy<SQSEvent, SQSBatchResponse>()
  .use(injectLambdaContext(telemetry.logger))
  .use(logMetrics(telemetry.metrics))
  .handler(
    makeConsumer({
      ...telemetry,
      process: redeliver,
      sqs: dependencies.sqs,
      queueUrl: environment.QUEUE_URL,
      attemptTimeoutMs: environment.ATTEMPT_TIMEOUT_MS,
      mostAttempts: attemptsPerProcess[environment.LANE],
      pause: systemPause,
    }),
  );
