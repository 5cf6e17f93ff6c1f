import * as z from 'zod/mini';
import { optionalText, text } from '../platform/environment.ts';
import type { Log } from '../platform/telemetry.ts';
import type { Identity } from './service.ts';
import { runSmokeTest, type SmokeEffects, type TestIdentity } from './smoke-test.ts';
import { longestStepsMs, TestEnded, TestFinding } from './step-record.ts';

export const scheduledTestEnvironment = z.object({
  AUTH_URL: text,
  BASE_URL: text,
  EVENTS_QUEUE_URL: text,
  /** The parameter with the client secret and the password of the scheduled test. */
  CREDENTIALS_PARAMETER: text,
  RECEIVER_URL: text,
  /** The parameter with the secret of the stage's own receiver; empty for another receiver. */
  RECEIVER_KEY_PARAMETER: optionalText,
});

/**
 * Makes the smoke test that runs on a schedule. It logs how it ended, and throws where it failed: Lambda counts that, and an alarm
 * watches it.
 */
export function makeScheduledTest({
  effects,
  log,
}: {
  readonly effects: Omit<SmokeEffects, 'onStep'>;
  readonly log: Log;
}) {
  return async function runScheduledTest(): Promise<void> {
    const ended = new AbortController();
    const endLimit = effects.after(longestStepsMs, () =>
      ended.abort(new TestEnded(`not done after ${longestStepsMs / 1_000} s`)),
    );
    const { failure, steps, durationMs, deliveryId } = await runSmokeTest(
      { ...effects, onStep: () => undefined },
      ended.signal,
    );
    endLimit();
    const times = Object.fromEntries(steps.map(step => [step.name, step.durationMs]));
    if (!failure) return log.info('smoke.passed', { deliveryId, durationMs, times });
    log.error('smoke.failed', { ...failure, deliveryId, durationMs, times });
    throw new Error(`The smoke test failed at "${failure.step}".`);
  };
}

/** Returns the client and the user of the scheduled test. They stand in a parameter, as JSON, and outlive the test. */
export function standingIdentity(readText: () => Promise<string | undefined>): TestIdentity {
  return { open };

  async function open(): Promise<Identity> {
    const stored = await readText();
    if (stored === undefined) {
      throw new TestFinding('the scheduled test has no client and user yet', '"smoke rotate-credentials" makes them');
    }
    return parseIdentity(stored);
  }
}

/** The parser's own errors quote what they read. */
function parseIdentity(stored: string): Identity {
  try {
    return identitySchema.parse(JSON.parse(stored));
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
