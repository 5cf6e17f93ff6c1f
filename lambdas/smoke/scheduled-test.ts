import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import * as z from 'zod/mini';
import type { Log } from '../platform/telemetry.ts';
import { longestStepsMs, TestEnded } from './ending.ts';
import type { ReadParameter } from './parameters.ts';
import type { Identity } from './service.ts';
import { runSmokeTest, type SmokeEffects, type TestIdentity } from './smoke-test.ts';
import { TestFinding } from './step-record.ts';

/** Makes the smoke test that runs on a schedule. It counts and logs how it ended, and does not throw. */
export function makeScheduledTest({
  effects,
  log,
  metrics,
}: {
  readonly effects: Omit<SmokeEffects, 'onStep'>;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'addMetric'>;
}) {
  return async function runScheduledTest(): Promise<void> {
    const ended = new AbortController();
    const timer = setTimeout(
      () => ended.abort(new TestEnded(`not done after ${longestStepsMs / 1_000} s`)),
      longestStepsMs,
    );
    const { failure, steps, durationMs, deliveryId } = await runSmokeTest(
      { ...effects, onStep: () => undefined },
      ended.signal,
    );
    clearTimeout(timer);
    metrics.addMetric('SmokePassed', MetricUnit.Count, failure ? 0 : 1);
    const times = Object.fromEntries(steps.map(step => [step.name, step.durationMs]));
    if (failure) log.error('smoke.failed', { ...failure, deliveryId, durationMs, times });
    else log.info('smoke.passed', { deliveryId, durationMs, times });
  };
}

/** The client and the user of the scheduled test. They stand in a parameter, as JSON, and outlive the test. */
export function standingIdentity(readParameter: ReadParameter, name: string): TestIdentity {
  return { open };

  async function open(): Promise<Identity> {
    const text = await readParameter(name);
    if (text === undefined) {
      throw new TestFinding('the scheduled test has no client and user yet', '"smoke rotate-credentials" makes them');
    }
    return parseIdentity(text);
  }
}

/** The parser's own errors quote what they read. */
function parseIdentity(text: string): Identity {
  try {
    return identitySchema.parse(JSON.parse(text));
  } catch {
    throw new TestFinding('the parameter holds no client and user', '"smoke rotate-credentials" makes them anew');
  }
}

const identitySchema = z.object({
  clientId: z.string(),
  clientSecret: z.string(),
  username: z.string(),
  password: z.string(),
});
