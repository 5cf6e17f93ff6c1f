import { smokeAccount } from '../auth/principals/account.ts';
import { deliveryIdOf } from '../delivery/event.ts';
import { signatureHeader } from '../delivery/worker/signature.ts';
import type { Clock } from '../platform/clock.ts';
import type { MakeId } from '../platform/identifiers.ts';
import { EVENT_NAMES, type EventName } from '../webhooks/webhook.ts';
import { digestOf, parseReceipt } from './receipt.ts';
import {
  type DeliveryDetail,
  type Fetch,
  type Identity,
  makeService,
  type Registered,
  type Tokens,
  UnexpectedAnswer,
} from './service.ts';

/** A step that is over. */
export interface Step {
  readonly name: StepName;
  readonly durationMs: number;
  readonly outcome: 'done' | 'failed';
  /** What it did, or why it failed, in a few words. */
  readonly detail: string;
}

/** How a smoke test ended. It contains no secret. */
export interface SmokeResult {
  readonly durationMs: number;
  readonly steps: readonly Step[];
  /** `undefined` where the test passed. */
  readonly failure: Failure | undefined;
  /** The `webhook-id` of the event; `undefined` where none was published. */
  readonly deliveryId: string | undefined;
}

/** What a smoke test does to the world, and what differs between an operator's and a scheduled one. */
export interface SmokeEffects {
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly fetch: Fetch;
  /** Removes what a test that crashed left behind, and says what that was. Without it there is no such step. */
  readonly removeLeftOvers?: () => Promise<string>;
  readonly identity: TestIdentity;
  readonly receiver: TestReceiver;
  /** Sends a message to the events queue, in the group of the account. */
  readonly publish: (body: string, accountId: string) => Promise<void>;
  /** What may be shown of an error that an effect threw. */
  readonly describeError: (error: unknown) => string;
  readonly onStep: (step: Step) => void;
  readonly now: Clock;
  readonly makeId: MakeId;
  /** Waits. Rejects when the signal is aborted. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** The client and the user of a test. */
export interface TestIdentity {
  readonly open: () => Promise<Identity>;
  /** Deletes what `open` made, also where it failed half-way or is not done yet. Without it they outlive the test. */
  readonly close?: () => Promise<void>;
}

/** The receiver of a test's event. */
export interface TestReceiver {
  readonly url: string;
  /** Makes the value of `Authorization` that the receiver is sent. */
  readonly makeKey: () => Promise<string>;
  /** Whether it answers with a receipt. A receiver of somebody else may, and need not. */
  readonly givesReceipts: boolean;
}

/** What is wrong, found by the test or its effects. The message is shown as it is. */
export class TestFinding extends Error {
  override readonly name = 'TestFinding';
  readonly lookAt: string | undefined;

  /** @param lookAt - what to look at; by default what fits the step. */
  constructor(message: string, lookAt?: string) {
    super(message);
    this.lookAt = lookAt;
  }
}

/** The end of a test before it was done. The message says why. */
export class TestEnded extends Error {
  override readonly name = 'TestEnded';
  readonly lookAt: string | undefined;

  /** @param lookAt - what to look at; by default what fits the step at which it ended. */
  constructor(message: string, lookAt?: string) {
    super(message);
    this.lookAt = lookAt;
  }
}

/** A test is over after so long, tidying up included: what is older was left behind. In milliseconds. */
export const longestTestMs = 180_000;

/** The most that the steps may take before the test is tidied up. In milliseconds. */
export const longestStepsMs = 120_000;

/**
 * Runs a smoke test: logs in, registers a webhook, publishes an event, waits until its receiver has it, and verifies what
 * arrived. Whatever happens, it tidies up after itself. It never throws.
 *
 * @param signal - ends the test early; its reason is an `Error` whose message says why.
 */
export async function runSmokeTest(effects: SmokeEffects, signal: AbortSignal): Promise<SmokeResult> {
  const { now } = effects;
  const startedAt = now();
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
    durationMs: now() - startedAt,
    steps: record.steps,
    failure: record.failure(),
    deliveryId: known.deliveryId,
  };
}

/** The steps of a smoke test by their names, in order. */
type StepName = 'left-overs' | 'client and user' | 'token' | 'register' | 'publish' | 'receive' | 'verify' | 'tidy up';

/** Why a test failed: at which step, and what to look at. */
interface Failure {
  readonly step: StepName;
  readonly reason: string;
  readonly lookAt: string;
}

/** Removes one thing that the test made. */
interface Undo {
  /** What it removes. */
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

  const runId = makeId(22);
  const url = withRunId(receiver.url, runId);
  const { webhook, key } = await take('register', async () => {
    const removed = await removeOldWebhooks(service, tokens, effects, signal);
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
    await unlessAborted(effects.publish(event.message, smokeAccount), signal);
    known.deliveryId = event.deliveryId;
    return { value: undefined, detail: event.deliveryId };
  });

  const delivery = await take('receive', async () => {
    const value = await untilDelivered(effects, tokens, event, signal);
    return { value, detail: describeDelivered(value) };
  });

  await take('verify', async () =>
    said(verify({ delivery, event, key, secret: webhook.segredo, givesReceipts: receiver.givesReceipts })),
  );
}

/** What a step gives, with the few words that are shown of it. */
interface Done<Value> {
  readonly value: Value;
  readonly detail: string;
}

function said(detail: string): Done<undefined> {
  return { value: undefined, detail };
}

/** The steps so far and the first failure. */
interface StepRecord {
  readonly steps: readonly Step[];
  readonly take: <Value>(name: StepName, work: () => Promise<Done<Value>>) => Promise<Value>;
  readonly fail: (error: unknown) => void;
  readonly failure: () => Failure | undefined;
}

function makeStepRecord({ now, onStep, describeError }: SmokeEffects, signal: AbortSignal): StepRecord {
  const steps: Step[] = [];
  let first: Failure | undefined;
  return { steps, take, fail, failure: () => first };

  async function take<Value>(name: StepName, work: () => Promise<Done<Value>>): Promise<Value> {
    const startedAt = now();
    const end = (outcome: Step['outcome'], detail: string) => {
      const step = { name, durationMs: now() - startedAt, outcome, detail };
      steps.push(step);
      onStep(step);
    };
    try {
      const { value, detail } = await work();
      end('done', detail);
      return value;
    } catch (error) {
      const reason = isOurs(error) ? error.message : error === signal.reason ? endOf(signal) : describeError(error);
      end('failed', reason);
      throw new StepFailed({ step: name, reason, lookAt: lookAt(name, error, signal) });
    }
  }

  /** Notes a failure. The first one counts: what comes after it is often its consequence. */
  function fail(error: unknown): void {
    if (!(error instanceof StepFailed)) throw error;
    first ??= error.failure;
  }
}

class StepFailed extends Error {
  override readonly name = 'StepFailed';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.reason);
    this.failure = failure;
  }
}

/** Errors whose messages contain no secret, because they are written for this. */
function isOurs(error: unknown): error is Error {
  return error instanceof TestFinding || error instanceof UnexpectedAnswer || error instanceof TestEnded;
}

function lookAt(step: StepName, error: unknown, { reason }: AbortSignal): string {
  if (reason instanceof TestEnded && reason.lookAt !== undefined) return reason.lookAt;
  if (error instanceof TestFinding && error.lookAt !== undefined) return error.lookAt;
  if (error instanceof UnexpectedAnswer && error.pointers.includes('/url')) {
    return 'the receiver’s URL (smokeReceiverUrl of the stage): it must be public, https, and no host of Emissor itself';
  }
  return places[step];
}

/** Where to look when a step failed, and nothing more is known. */
const places: Readonly<Record<StepName, string>> = {
  'left-overs': 'the tables of clients and users, and whether your AWS credentials may read them',
  'client and user': 'the tables of clients and users, and whether your AWS credentials may write to them',
  token: 'the log of the token function (saved query "auth/refused tokens") and its alarms, TokenFailures first',
  register: 'the log of the webhooks API (saved query "webhooks/refused requests") and the alarm WebhooksApiCrashes',
  publish: 'the events queue, and whether the caller may sqs:SendMessage to it',
  receive: 'the log of DeliverFirst and its alarms, and the dead-letter queue ("dlq list")',
  verify: 'the delivery ("deliveries show" with its id) and the receiver',
  'tidy up': `nothing at once: the next test removes what is left, ${longestTestMs / 60_000} minutes from now`,
};

/** Waits for work that cannot be aborted. When the signal is, the work goes on, and the undoing waits for it. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
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

/** The receiver's URL, marked with the test: a webhook with another URL belongs to another test. */
function withRunId(receiverUrl: string, runId: string): string {
  const url = new URL(receiverUrl);
  url.searchParams.set('run', runId);
  return url.href;
}

type Service = ReturnType<typeof makeService>;

/** Removes the webhooks of tests that crashed. Those of tests that may be under way stay. Gives their events. */
async function removeOldWebhooks(
  service: Service,
  { accessToken }: Tokens,
  { now }: Pick<SmokeEffects, 'now'>,
  signal: AbortSignal,
): Promise<readonly EventName[]> {
  const webhooks = await service.listWebhooks(accessToken, signal);
  const old = webhooks.filter(({ criado_em }) => Date.parse(criado_em) + longestTestMs < now());
  for (const { evento } of old) await service.deleteWebhook(accessToken, evento, signal);
  return old.map(({ evento }) => evento);
}

/** Registers for the first event that no other test has taken: an account has one webhook for each. */
async function registerSomewhere(
  service: Service,
  { accessToken }: Tokens,
  webhook: { readonly url: string; readonly autorizacao: string },
  signal: AbortSignal,
): Promise<Registered> {
  for (const evento of EVENT_NAMES) {
    const registered = await service.register(accessToken, { evento, ...webhook }, signal);
    if (registered === undefined) continue;
    if (registered.estado === 'ativo') return registered;
    throw new TestFinding(
      `the webhook for ${evento} began suspended (${registered.motivo_suspensao})`,
      `"webhooks reactivate --account ${smokeAccount} --event ${evento}": an operator suspended it`,
    );
  }
  throw new TestFinding(
    `the account has a webhook for each of the ${EVENT_NAMES.length} events`,
    `whether so many tests run at once; try again in ${longestTestMs / 60_000} minutes`,
  );
}

/** Removes the test's webhook, also where nobody knows whether it was registered. */
async function removeWebhook(
  service: Service,
  { accessToken }: Tokens,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const webhooks = await service.listWebhooks(accessToken, signal);
  for (const { evento } of webhooks.filter(webhook => webhook.url === url)) {
    await service.deleteWebhook(accessToken, evento, signal);
  }
}

/** The event of a test. */
interface TestEvent {
  readonly eventName: EventName;
  readonly deliveryId: string;
  /** What is sent to the events queue. */
  readonly message: string;
  readonly ids: { readonly id_demanda: number; readonly id_proposta: number };
}

/** The events need different ids. All are given; the service leaves out what an event does not have. */
function eventOf(eventName: EventName, id: string): TestEvent {
  const ids = { id_demanda: 1, id_proposta: 1 };
  return {
    eventName,
    deliveryId: deliveryIdOf(smokeAccount, eventName, id),
    message: JSON.stringify({ id_conta: smokeAccount, event: eventName, ...ids, id }),
    ids,
  };
}

async function untilDelivered(
  effects: SmokeEffects,
  { accessToken }: Tokens,
  { eventName, deliveryId }: TestEvent,
  signal: AbortSignal,
): Promise<DeliveryDetail> {
  const service = makeService(effects);
  let seen: DeliveryDetail | undefined;
  try {
    for (;;) {
      seen = (await service.findDelivery(accessToken, eventName, deliveryId, signal)) ?? seen;
      if (seen?.estado === 'entregue') return seen;
      const refusal = seen && whyNever(seen);
      if (refusal !== undefined) throw new TestFinding(refusal, placeOf(deliveryId));
      await effects.pause(pollIntervalMs, signal);
    }
  } catch (error) {
    if (!signal.aborted || error instanceof TestFinding) throw error;
    const state = seen ? describeWaiting(seen) : 'no attempt is recorded: the message may still be in the events queue';
    throw new TestFinding(`${endOf(signal)}; ${state}`, seen ? placeOf(deliveryId) : undefined);
  }
}

/** Why a delivery will not be delivered in this test; `undefined` where it still may be. */
function whyNever({ estado, tentativas }: DeliveryDetail): string | undefined {
  if (estado !== 'pendente') return `the delivery ended as ${estado}${describeAttempts(tentativas)}`;
  const latest = tentativas.at(-1);
  if (latest?.resultado === 'bloqueada')
    return `the receiver is at an address that is not public${describeAttempts(tentativas)}`;
  const isRefused = refusals.test(String(latest?.status));
  return isRefused ? `the receiver refuses the delivery${describeAttempts(tentativas)}` : undefined;
}

/** A 4xx but 408 and 429, with which a receiver asks for another attempt. */
const refusals = /^4(?!08|29)\d\d$/;

function describeWaiting({ tentativas }: DeliveryDetail): string {
  return `the delivery waits for its next attempt${describeAttempts(tentativas)}`;
}

function describeAttempts(attempts: DeliveryDetail['tentativas']): string {
  const latest = attempts.at(-1);
  if (!latest) return '';
  const status = latest.status === null ? '' : ` ${latest.status}`;
  return `: attempt ${latest.numero} ended with ${latest.resultado}${status} after ${latest.duracao_ms} ms`;
}

function placeOf(deliveryId: string): string {
  return `"events find ${deliveryId}", and the log of the receiver`;
}

function endOf(signal: AbortSignal): string {
  return signal.reason instanceof TestEnded ? signal.reason.message : 'the test was ended';
}

function describeDelivered({ tentativas }: DeliveryDetail): string {
  const latest = tentativas.at(-1);
  return `answered ${latest?.status} to attempt ${latest?.numero} after ${latest?.duracao_ms} ms`;
}

/** The service is asked for the delivery at this interval. In milliseconds. */
const pollIntervalMs = 500;

/**
 * Verifies what arrived against what was published and registered, by the receiver's receipt. Says what was verified.
 *
 * @throws {TestFinding}
 */
function verify({
  delivery,
  event,
  key,
  secret,
  givesReceipts,
}: {
  readonly delivery: DeliveryDetail;
  readonly event: TestEvent;
  readonly key: string;
  readonly secret: string;
  readonly givesReceipts: boolean;
}): string {
  const { id, corpo, tentativas } = delivery;
  const attempt = tentativas.at(-1);
  const content = { event: event.eventName, ...event.ids };
  if (!tells(corpo, content)) throw new TestFinding('the delivery has another body than the event that was published');
  const receipt = parseReceipt(attempt?.resposta ?? null);
  if (!receipt) {
    if (givesReceipts) throw new TestFinding('the receiver answered without a receipt');
    return 'the answer of your own receiver, which gives no receipt: only its status is known';
  }
  const timestamp = Number(receipt.timestamp);
  const signature = signatureHeader({ id: event.deliveryId, timestamp, body: corpo }, [secret]);
  const differs = [
    (id !== event.deliveryId || receipt.id !== event.deliveryId) && 'webhook-id',
    receipt.body !== digestOf(corpo) && 'body',
    receipt.authorization !== digestOf(key) && 'Authorization',
    receipt.signature !== signature && 'webhook-signature',
    Math.abs(timestamp * 1_000 - Date.parse(attempt?.iniciada_em ?? '')) > timestampToleranceMs && 'webhook-timestamp',
  ].filter(part => part !== false);
  if (differs.length > 0) throw new TestFinding(`the receiver got another ${differs.join(', ')} than it should`);
  return 'body, Authorization and signature arrived as they should';
}

/** Whether a body holds these values. It may hold a link too, and lacks the ids that its event does not have. */
function tells(body: string, content: Readonly<Record<string, unknown>>): boolean {
  const { link: _, ...sent } = JSON.parse(body) as Record<string, unknown>;
  return (
    'event' in sent && 'id_demanda' in sent && Object.entries(sent).every(([name, value]) => content[name] === value)
  );
}

/** As in Standard Webhooks. In milliseconds. */
const timestampToleranceMs = 300_000;

/** Removes everything, the latest first, whatever fails. @throws {TestFinding} naming what could not be removed. */
async function tidyUp(
  undo: readonly Undo[],
  { describeError }: Pick<SmokeEffects, 'describeError'>,
): Promise<Done<undefined>> {
  const limit = AbortSignal.timeout(tidyUpLimitMs);
  const left: string[] = [];
  for (const { what, remove } of undo.toReversed()) {
    await unlessAborted(remove(limit), limit).catch(error =>
      left.push(`${what} (${isOurs(error) ? error.message : describeError(error)})`),
    );
  }
  if (left.length > 0) throw new TestFinding(`could not remove ${left.join(', ')}`);
  return said(undo.length === 0 ? 'nothing to remove' : `removed ${undo.map(({ what }) => what).join(', ')}`);
}

/** In milliseconds. */
const tidyUpLimitMs = 30_000;
