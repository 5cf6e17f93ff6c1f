import { setTimeout as pause } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { makeSqs } from '../delivery/queues.ts';
import { clientSettings } from '../platform/aws/client-settings.ts';
import { systemClock } from '../platform/clock.ts';
import { readParameter } from '../platform/deployment/parameters.ts';
import { readEnvironment } from '../platform/environment.ts';
import { randomId } from '../platform/identifiers.ts';
import { makeHandler } from '../platform/lambda-handler.ts';
import { describeError, makeTelemetry } from '../platform/telemetry.ts';
import { makeScheduledTest, scheduledTestEnvironment, standingIdentity } from './scheduled-test.ts';
import { otherReceiver, ownReceiver } from './smoke-test.ts';

const environment = readEnvironment(scheduledTestEnvironment);
const telemetry = makeTelemetry('smoke-test');
const ssm = new SSMClient(clientSettings('ssm'));
const sqs = makeSqs();
const { RECEIVER_URL: url, RECEIVER_KEY_PARAMETER: keyParameter } = environment;
const [now, makeId] = [systemClock, randomId];

const runScheduledTest = makeScheduledTest({
  ...telemetry,
  effects: {
    authUrl: environment.AUTH_URL,
    baseUrl: environment.BASE_URL,
    fetch,
    identity: standingIdentity(() => readParameter(ssm, environment.CREDENTIALS_PARAMETER)),
    receiver:
      keyParameter === undefined
        ? otherReceiver(url, false, makeId)
        : ownReceiver({ url, readSecret: () => readParameter(ssm, keyParameter), now, makeId }),
    publish: async (body, accountId) => {
      const QueueUrl = environment.EVENTS_QUEUE_URL;
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body, MessageGroupId: accountId }));
    },
    describeError: error => describeError(error).errorName,
    now,
    makeId,
    pause: (milliseconds, signal) => pause(milliseconds, undefined, { signal }),
  },
});

/** Runs the smoke test on a schedule. */
export const handler = makeHandler(telemetry, runScheduledTest);
