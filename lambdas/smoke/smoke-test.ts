import { smokeAccount } from '../auth/principals/account.ts';
import { smokeTestIdLength } from '../delivery/intake/event.ts';
import type { Clock } from '../platform/clock.ts';
import type { MakeId } from '../platform/identifiers.ts';
import { type Pause, withDeadline } from '../platform/timer.ts';
import { makeRunKey } from './receiver.ts';
import { type Identity, makeService } from './service.ts';
import type { ServiceAddress } from './service-client.ts';
import {
  type Done,
  type Failure,
  makeStepRecord,
  messageOf,
  type Step,
  type StepEffects,
  type StepRecord,
  said,
  TestFinding,
  tidyUpLimitMs,
  unlessAborted,
  useLimitMs,
} from './step-record.ts';
import {
  describeDelivered,
  eventOf,
  registerSomewhere,
  removeOldWebhooks,
  removeWebhook,
  untilDelivered,
  verifyDelivery,
  withRunId,
} from './test-steps.ts';

/** The outcome of a smoke test. It contains no secret. */
export interface SmokeResult {
  readonly durationMs: number;
  readonly steps: readonly Step[];
  /** `undefined` where the test passed. */
  readonly failure: Failure | undefined;
  /** The `webhook-id` of the event; `undefined` where none was published. */
  readonly deliveryId: string | undefined;
}

/** The effects of a smoke test on the world, and the differences between an operator's and a scheduled one. */
export interface SmokeEffects extends ServiceAddress, StepEffects {
  /** Removes what a test that crashed left behind, and says what that was. Without it there is no such step. */
  readonly removeLeftOvers?: () => Promise<string>;
  readonly identity: TestIdentity;
  readonly receiver: TestReceiver;
  /** Sends a message to the events queue, in the group of the account. */
  readonly publish: (body: string, accountId: string) => Promise<void>;
  readonly now: Clock;
  readonly makeId: MakeId;
  readonly pause: Pause;
}

export interface TestIdentity {
  readonly open: () => Promise<Identity>;
  /** Deletes what `open` made, also where it failed half-way or is not done yet. Without it they outlive the test. */
  readonly close?: () => Promise<void>;
}

/**
 * Runs a smoke test: logs in, registers a webhook, publishes an event, waits until its receiver has it, and verifies what
 * arrived. Whatever happens, it tidies up after itself. It never throws.
 *
 * @param signal - ends the test early; its reason is an `Error` whose message says why.
 */
export async function runSmokeTest(effects: SmokeEffects, signal: AbortSignal): Promise<SmokeResult> {
  const { elapsed } = effects;
  const startedAt = elapsed();
  const record = makeStepRecord(effects, signal);
  const undo: Undo[] = [];
  const known: { deliveryId?: string } = {};
  try {
    await takeSteps(effects, signal, record, undo, known);
  } catch (error) {
    record.fail(error);
  }
  await record.take('tidy up', () => tidyUp(undo, effects)).catch(record.fail);
  return {
    durationMs: Math.round(elapsed() - startedAt),
    steps: record.steps,
    failure: record.failure(),
    deliveryId: known.deliveryId,
  };
}

export interface TestReceiver {
  readonly url: string;
  /** Makes the value of `Authorization` that the receiver is sent. */
  readonly makeKey: () => Promise<string>;
  /** True when it answers with a receipt. Somebody else's receiver may, and need not. */
  readonly givesReceipts: boolean;
}

/**
 * Returns the receiver of the stage's own, which knows the keys of tests by a secret that it shares with them.
 *
 * @param readSecret - reads the secret; `undefined` where there is none yet.
 */
export function ownReceiver({
  url,
  readSecret,
  now,
  makeId,
}: {
  readonly url: string;
  readonly readSecret: () => Promise<string | undefined>;
  readonly now: Clock;
  readonly makeId: MakeId;
}): TestReceiver {
  return { url, givesReceipts: true, makeKey };

  async function makeKey(): Promise<string> {
    const secret = await readSecret();
    if (secret !== undefined) return makeRunKey(secret, now() + useLimitMs, makeId(22));
    throw new TestFinding('the receiver has no key yet', '"smoke": the first one from the command line makes it');
  }
}

/** Returns a receiver of somebody else. It is sent a random key, which it need not check. */
export function otherReceiver(url: string, givesReceipts: boolean, makeId: MakeId): TestReceiver {
  return { url, givesReceipts, makeKey: async () => `Bearer ${makeId(43)}` };
}

/** Removes one thing that the test made. */
interface Undo {
  /** The name of the thing that it removes. */
  readonly what: string;
  readonly remove: (signal: AbortSignal) => Promise<void>;
}

/** Everything between the start and the tidying up. What is to be removed is noted before it is made. */
async function takeSteps(
  effects: SmokeEffects,
  signal: AbortSignal,
  { take }: StepRecord,
  undo: Undo[],
  known: { deliveryId?: string },
): Promise<void> {
  const { removeLeftOvers, identity, receiver, makeId } = effects;
  const service = makeService(effects);

  if (removeLeftOvers) await take('left-overs', async () => said(await unlessAborted(removeLeftOvers(), signal)));

  if (identity.close) undo.push({ what: 'the client and the user', remove: identity.close });
  const opened = await take('client and user', async () => {
    const value = await unlessAborted(identity.open(), signal);
    return { value, detail: `of account ${smokeAccount}` };
  });

  const tokens = await take('token', async () => {
    const value = await service.logIn(opened, signal);
    return { value, detail: 'by the password grant' };
  });
  undo.push({ what: 'the session', remove: limit => service.revoke(opened, tokens.refreshToken, limit) });

  const runId = makeId(smokeTestIdLength);
  const { webhook, key } = await take('register', async () => {
    const url = withRunId(receiver.url, runId);
    const removed = await removeOldWebhooks(service, tokens, effects.now, signal);
    const autorizacao = await unlessAborted(receiver.makeKey(), signal);
    undo.push({ what: 'the webhook', remove: limit => removeWebhook(service, tokens, url, limit) });
    const registered = await registerSomewhere(service, tokens, { url, autorizacao }, signal);
    const leftOvers = removed.length === 0 ? '' : `, after removing what was left over for ${removed.join(', ')}`;
    return {
      value: { webhook: registered, key: autorizacao },
      detail: `${registered.evento} at ${new URL(url).host}${leftOvers}`,
    };
  });

  const event = eventOf(webhook.evento, runId);
  await take('publish', async () => {
    known.deliveryId = event.deliveryId;
    await unlessAborted(effects.publish(event.message, smokeAccount), signal);
    return said(event.deliveryId);
  });

  const delivery = await take('receive', async () => {
    const value = await untilDelivered(service, effects.pause, tokens, event, signal);
    return { value, detail: describeDelivered(value) };
  });

  await take('verify', async () =>
    said(verifyDelivery({ delivery, event, key, secret: webhook.segredo, givesReceipts: receiver.givesReceipts })),
  );
}

/** Removes everything, the latest first, whatever fails. @throws {TestFinding} naming what could not be removed. */
async function tidyUp(
  undo: readonly Undo[],
  { describeError, after }: Pick<SmokeEffects, 'describeError' | 'after'>,
): Promise<Done<undefined>> {
  const left: string[] = [];
  const latestFirst = undo.toReversed();
  await withDeadline(after, tidyUpLimitMs, async limit => {
    for (const { what, remove } of latestFirst) {
      await unlessAborted(remove(limit), limit).catch(error =>
        left.push(`${what} (${messageOf(error, describeError)})`),
      );
    }
  });
  if (left.length > 0) throw new TestFinding(`could not remove ${left.join(', ')}`);
  return said(undo.length === 0 ? 'nothing to remove' : `removed ${latestFirst.map(({ what }) => what).join(', ')}`);
}
