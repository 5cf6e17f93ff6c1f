import { setTimeout as pause } from 'node:timers/promises';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { makeKms } from '../../platform/aws/kms.ts';
import { systemClock } from '../../platform/clock.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { randomId } from '../../platform/identifiers.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { rotateKeysEnvironment } from '../environment.ts';
import { makeKeyRotation } from './key-rotation.ts';
import { rotationPolicies } from './rotation-plan.ts';
import { awaitPermissions } from './settling-permissions.ts';

const environment = readEnvironment(rotateKeysEnvironment);
const { log, metrics, count } = makeTelemetry('rotate-keys');
const rotation = makeKeyRotation({
  dynamo: makeDynamo(),
  kms: makeKms(),
  table: environment.KEYRING_TABLE,
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

/** Runs at every deployment and once a day. The event is not read. */
export const handler = middy()
  .use(logMetrics(metrics))
  .handler(async () => {
    const results = await awaitPermissions(() => rotation.rotateKeys(), { now: systemClock, pause, log });
    for (const result of results) log.info('keys.rotated', { ...result });
    count('KeyCreated', results.filter(({ created }) => created !== undefined).length);
  });
