import { setTimeout as pause } from 'node:timers/promises';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import { KMSClient } from '@aws-sdk/client-kms';
import middy from '@middy/core';
import { clientSettings } from '../../platform/client-settings.ts';
import { systemClock } from '../../platform/clock.ts';
import { makeDynamo } from '../../platform/dynamo.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { randomId } from '../../platform/identifiers.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { rotateKeysEnvironment } from '../environment.ts';
import { makeKeyRotation } from './key-rotation.ts';
import { awaitPermissions } from './settling-permissions.ts';

const { logger, metrics } = makeTelemetry('rotate-keys');
const rotation = makeKeyRotation({
  environment: readEnvironment(rotateKeysEnvironment),
  dynamo: makeDynamo(),
  kms: new KMSClient(clientSettings),
  now: systemClock,
  makeId: randomId,
});

/** Runs at every deployment and once a day. The event is not read. */
export const handler = middy()
  .use(logMetrics(metrics))
  .handler(async () => {
    const results = await awaitPermissions(() => rotation.rotateKeys(), { now: systemClock, pause, log: logger });
    for (const result of results) logger.info('keys.rotated', { ...result });
    metrics.addMetric('KeyCreated', 'Count', results.filter(({ created }) => created !== undefined).length);
  });
