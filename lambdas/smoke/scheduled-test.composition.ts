import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type * as z from 'zod/mini';
import { makeRandomIds } from '../platform/identifiers.ts';
import type { Outside } from '../platform/outside.ts';
import { describeError, type Telemetry } from '../platform/telemetry.ts';
import { makeScheduledTest, type scheduledTestEnvironment, standingIdentity } from './scheduled-test.ts';
import { otherReceiver, ownReceiver } from './smoke-test.ts';

export function composeScheduledTest(
  environment: z.infer<typeof scheduledTestEnvironment>,
  { sqs, readParameter, fetch, time, random }: Pick<Outside, 'sqs' | 'readParameter' | 'fetch' | 'time' | 'random'>,
  telemetry: Telemetry,
) {
  const { RECEIVER_URL: url, RECEIVER_KEY_PARAMETER: keyParameter } = environment;
  const makeId = makeRandomIds(random);
  return makeScheduledTest({
    ...telemetry,
    effects: {
      ...time,
      authUrl: environment.AUTH_URL,
      baseUrl: environment.BASE_URL,
      fetch,
      identity: standingIdentity(() => readParameter(environment.CREDENTIALS_PARAMETER)),
      receiver:
        keyParameter === undefined
          ? otherReceiver(url, false, makeId)
          : ownReceiver({ ...time, url, readSecret: () => readParameter(keyParameter), makeId }),
      publish: async (body, accountId) => {
        const QueueUrl = environment.EVENTS_QUEUE_URL;
        await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body, MessageGroupId: accountId }));
      },
      describeError: error => describeError(error).errorName,
      makeId,
    },
  });
}
