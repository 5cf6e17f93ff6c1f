import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { Environment } from '../platform/environment.ts';
import { makeRandomIds } from '../platform/identifiers.ts';
import type { Runtime } from '../platform/runtime.ts';
import { describeError, type Telemetry } from '../platform/telemetry.ts';
import type { scheduledTestEnvironment } from './environment.ts';
import { type Identity, maxStepsMs, parseIdentity, runSmokeTest, SmokeError } from './smoke-test.ts';

/** Composes the scheduled smoke test. It throws if the test fails, because an alarm watches Lambda's error metric. */
export function composeScheduledTest(
  environment: Environment<typeof scheduledTestEnvironment>,
  { sqs, readParameter, fetch, time, random }: Pick<Runtime, 'sqs' | 'readParameter' | 'fetch' | 'time' | 'random'>,
  { log }: Pick<Telemetry, 'log'>,
) {
  return async function runScheduledTest(): Promise<void> {
    const end = new AbortController();
    const cancel = time.after(maxStepsMs, () => end.abort(new SmokeError(`timed out after ${maxStepsMs / 1_000} s`)));
    const { failure, steps, ...result } = await runSmokeTest(
      {
        ...environment,
        ...time,
        fetch,
        readIdentity,
        publish: async (MessageBody, MessageGroupId) => {
          await sqs.send(new SendMessageCommand({ QueueUrl: environment.eventsQueueUrl, MessageBody, MessageGroupId }));
        },
        describeError: error => describeError(error).errorName,
        makeId: makeRandomIds(random),
        onStep: () => undefined,
      },
      end.signal,
    );
    cancel();
    const times = Object.fromEntries(steps.map(({ name, durationMs }) => [name, durationMs]));
    if (!failure) return log.info('smoke.passed', { ...result, times });
    log.error('smoke.failed', { ...failure, ...result, times });
    throw new Error(`The smoke test failed at "${failure.step}".`);
  };

  async function readIdentity(): Promise<Identity> {
    const stored = await readParameter(environment.credentialsParameter);
    if (stored === undefined) throw new SmokeError('no client and user exist yet. Run "smoke" once to create them');
    return parseIdentity(stored);
  }
}
