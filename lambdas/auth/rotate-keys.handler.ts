import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import { KMSClient } from '@aws-sdk/client-kms';
import middy from '@middy/core';
import { systemClock } from '../platform/clock.ts';
import { makeDocuments } from '../platform/dynamodb.ts';
import { readEnvironment } from '../platform/environment.ts';
import { randomId } from '../platform/identifiers.ts';
import { makeTelemetry } from '../platform/telemetry.ts';
import { rotateKeysEnvironment } from './environment.ts';
import { makeKeyRotation } from './key-rotation.ts';
import { rotationPolicies } from './rotation-plan.ts';

const environment = readEnvironment(rotateKeysEnvironment);
const { logger, metrics } = makeTelemetry('rotate-keys');
const rotation = makeKeyRotation({
  documents: makeDocuments(),
  kms: new KMSClient({ maxAttempts: 3 }),
  tableName: environment.KEYRING_TABLE,
  keyArn: environment.KEY_ARN,
  algorithm: environment.SIGNING_ALGORITHM,
  policies: rotationPolicies({
    periodSeconds: environment.KEY_ROTATION_SECONDS,
    accessTokenSeconds: environment.ACCESS_TOKEN_SECONDS,
    refreshAbsoluteSeconds: environment.REFRESH_ABSOLUTE_SECONDS,
  }),
  now: systemClock,
  makeId: randomId,
});

/** Runs at every deployment and once a day; the event says nothing. */
export const handler = middy()
  .use(logMetrics(metrics))
  .handler(async () => {
    const results = await rotation.rotateKeys();
    for (const result of results) logger.info('keys', { ...result });
    metrics.addMetric('KeyCreated', 'Count', results.filter(({ created }) => created !== undefined).length);
  });
