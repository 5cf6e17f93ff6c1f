import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { attemptsPerProcess } from '../limits.ts';
import { makeConsumer, systemPause } from './batch-consumer.ts';
import { makeDeliver } from './first-attempt.ts';
import { wireConsumer } from './wiring.ts';

const { environment, telemetry, ...dependencies } = wireConsumer();

const deliver = makeDeliver({ ...telemetry, ...dependencies, demandsUrl: environment.DEMANDS_URL });

/** First attempts: consumes the events queue. */
export const handler = middy<SQSEvent, SQSBatchResponse>()
  .use(injectLambdaContext(telemetry.logger))
  .use(logMetrics(telemetry.metrics))
  .handler(
    makeConsumer({
      ...telemetry,
      process: deliver,
      sqs: dependencies.sqs,
      queueUrl: environment.QUEUE_URL,
      attemptTimeoutMs: environment.ATTEMPT_TIMEOUT_MS,
      mostAttempts: attemptsPerProcess[environment.LANE],
      pause: systemPause,
    }),
  );
