import type { Time } from '../platform/timer.ts';
import { UnexpectedAnswer } from './service-client.ts';

/** A step that is over. */
export interface Step {
  readonly name: StepName;
  readonly durationMs: number;
  readonly outcome: 'done' | 'failed';
  /** The work that it did, or the reason why it failed, in a few words. */
  readonly detail: string;
}

/** The reason why a test failed: at which step, and what to look at. */
export interface Failure {
  readonly step: StepName;
  readonly reason: string;
  readonly lookAt: string;
}

class LookAtError extends Error {
  readonly lookAt: string | undefined;

  /** @param lookAt - what to look at; by default what fits the step at which it came. */
  constructor(message: string, lookAt?: string) {
    super(message);
    this.lookAt = lookAt;
  }
}

/** A fault that the test or its effects found. The message is shown as it is. */
export class TestFinding extends LookAtError {
  override readonly name = 'TestFinding';
}

/** The end of a test before it was done. The message says why. */
export class TestEnded extends LookAtError {
  override readonly name = 'TestEnded';
}

/** The result of a step, with the few words that are shown of it. */
export interface Done<Value> {
  readonly value: Value;
  readonly detail: string;
}

/** Returns the result of a step that has nothing but a few words. */
export function said(detail: string): Done<undefined> {
  return { value: undefined, detail };
}

/** Returns the message of an error that is written for this and contains no secret; of others, what may be shown of them. */
export function messageOf(error: unknown, describeError: StepEffects['describeError']): string {
  const isWrittenForThis =
    error instanceof TestFinding || error instanceof UnexpectedAnswer || error instanceof TestEnded;
  return isWrittenForThis ? error.message : describeError(error);
}

/** Returns why a test was ended, in a few words. */
export function endOf(signal: AbortSignal): string {
  return signal.reason instanceof TestEnded ? signal.reason.message : 'the test was ended';
}

/** Waits for work that cannot be aborted. When the signal is, the work goes on, and the undoing waits for it. */
export async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
    work.catch(() => undefined); // nobody waits for it any more
  }
}

/** A test is over after this long, tidying up included. In milliseconds. */
export const longestTestMs = 180_000;

/** The clocks of an operator's machine and of AWS may differ by this much. In milliseconds. */
const clockDifferenceMs = 300_000;

/** The longest time that a test's things are in use, by any clock: its key is good until then, and older ones were left behind. */
export const useLimitMs = longestTestMs + clockDifferenceMs;

/** The most that the steps may take before the test is tidied up. In milliseconds. */
export const longestStepsMs = 120_000;

/** Tidying up is given up after this long. In milliseconds. */
export const tidyUpLimitMs = 30_000;

/** The steps so far and the first failure. */
export interface StepRecord {
  readonly steps: readonly Step[];
  /** Takes a step, and tells how it ended. Rejects where it failed. */
  readonly take: <Value>(name: StepName, work: () => Promise<Done<Value>>) => Promise<Value>;
  /** Notes the failure of a step. The first one counts: what comes after it is often its consequence. */
  readonly fail: (error: unknown) => void;
  readonly failure: () => Failure | undefined;
}

/**
 * Begins the record of a test.
 *
 * @param signal - that the test may be ended by.
 */
export function makeStepRecord({ elapsed, onStep, describeError }: StepEffects, signal: AbortSignal): StepRecord {
  const steps: Step[] = [];
  let first: Failure | undefined;
  return { steps, take, fail, failure: () => first };

  async function take<Value>(name: StepName, work: () => Promise<Done<Value>>): Promise<Value> {
    const startedAt = elapsed();
    const end = (outcome: Step['outcome'], detail: string) => {
      const step = { name, durationMs: Math.round(elapsed() - startedAt), outcome, detail };
      steps.push(step);
      onStep(step);
    };
    try {
      const { value, detail } = await work();
      end('done', detail);
      return value;
    } catch (error) {
      const reason = messageOf(error, describeError);
      end('failed', reason);
      throw new StepFailed({ step: name, reason, lookAt: lookAt(name, error, signal) });
    }
  }

  function fail(error: unknown): void {
    if (!(error instanceof StepFailed)) throw error;
    first ??= error.failure;
  }
}

/** The steps of a smoke test by their names, in order. */
type StepName = 'left-overs' | 'client and user' | 'token' | 'register' | 'publish' | 'receive' | 'verify' | 'tidy up';

/** The effects of a test that a record needs. */
export interface StepEffects {
  /** Measures what steps take, in milliseconds: the clock may be put right meanwhile. */
  readonly elapsed: Time['elapsed'];
  readonly onStep: (step: Step) => void;
  /** Returns the text that may be shown of an error that an effect threw. */
  readonly describeError: (error: unknown) => string;
}

class StepFailed extends Error {
  override readonly name = 'StepFailed';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.reason);
    this.failure = failure;
  }
}

function lookAt(step: StepName, error: unknown, { reason }: AbortSignal): string {
  if (step !== 'tidy up' && reason instanceof TestEnded && reason.lookAt !== undefined) return reason.lookAt;
  if (error instanceof TestFinding && error.lookAt !== undefined) return error.lookAt;
  if (error instanceof UnexpectedAnswer && error.status === 0)
    return 'that host and its DNS name, and the network from here';
  if (error instanceof UnexpectedAnswer && error.pointers.includes('/url')) {
    return 'the URL of the receiver (that of the stage, or its smokeReceiverUrl): it must be public, https, and no host of Emissor itself';
  }
  return places[step];
}

/** The place to look at when a step failed, and nothing more is known. */
const places: Readonly<Record<StepName, string>> = {
  'left-overs': 'the tables of clients and users, and whether your AWS credentials may read them',
  'client and user': 'the tables of clients and users, and whether your AWS credentials may write to them',
  token:
    'the log of the token function (saved queries "auth/internal errors" for a 5xx, "auth/refused tokens" else) and the alarm RequestsFail',
  register:
    'the log of the webhooks API (saved queries "webhooks/internal errors" for a 5xx, "webhooks/refused requests" else) and the alarm RequestsFail',
  publish: 'the events queue, and whether the caller may sqs:SendMessage to it',
  receive:
    'the log of DeliverFirst (saved query "delivery/internal errors"), the alarm EventsStuck, and the dead-letter queue ("dlq list")',
  verify: 'the delivery ("deliveries show" with its id) and the receiver',
  'tidy up': `nothing at once: the next test removes what is left, ${useLimitMs / 60_000} minutes from now`,
};
