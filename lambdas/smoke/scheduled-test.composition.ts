import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { Environment } from '../platform/environment.ts';
import { makeRandomIds } from '../platform/identifiers.ts';
import type { Outside } from '../platform/outside.ts';
import { describeError, type Telemetry } from '../platform/telemetry.ts';
import { makeScheduledTest, type scheduledTestEnvironment, standingIdentity } from './scheduled-test.ts';
import { otherReceiver, ownReceiver } from './smoke-test.ts';

export function composeScheduledTest(
  environment: Environment<typeof scheduledTestEnvironment>,
  { sqs, readParameter, fetch, time, random }: Pick<Outside, 'sqs' | 'readParameter' | 'fetch' | 'time' | 'random'>,
  telemetry: Telemetry,
) {
  const { receiverUrl: url, receiverKeyParameter: keyParameter } = environment;
  const makeId = makeRandomIds(random);
  return makeScheduledTest({
    ...telemetry,
    effects: {
      ...time,
      authUrl: environment.authUrl,
      baseUrl: environment.baseUrl,
      fetch,
      identity: standingIdentity(() => readParameter(environment.credentialsParameter)),
      receiver:
        keyParameter === undefined
          ? otherReceiver(url, false, makeId)
          : ownReceiver({ ...time, url, readSecret: () => readParameter(keyParameter), makeId }),
      publish: async (body, accountId) => {
        const QueueUrl = environment.eventsQueueUrl;
        await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body, MessageGroupId: accountId }));
      },
      describeError: error => describeError(error).errorName,
      makeId,
    },
  });
}
