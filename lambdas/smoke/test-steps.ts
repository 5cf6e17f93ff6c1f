import { smokeAccount } from '../auth/principals/account.ts';
import { deliveryIdOf } from '../delivery/intake/event.ts';
import { businessEvents } from '../delivery/intake/event-catalogue.ts';
import { signatureHeader } from '../delivery/worker/signature.ts';
import type { Clock } from '../platform/clock.ts';
import type { Pause } from '../platform/timer.ts';
import { EVENT_NAMES, type EventName } from '../webhooks/webhook.ts';
import { digestOf, parseReceipt } from './receiver.ts';
import type { DeliveryDetail, Registered, Service, Tokens } from './service.ts';
import { endOf, TestFinding, useLimitMs } from './step-record.ts';

/* The steps of a smoke test between the login and tidying up: the webhook, the event, its delivery. */

/** Marks the receiver's URL with the test: a webhook with another URL belongs to another test. */
export function withRunId(receiverUrl: string, runId: string): string {
  const url = new URL(receiverUrl);
  url.searchParams.set('run', runId);
  return url.href;
}

/** Removes the webhooks of tests that crashed, and returns their events. Those of tests that may be under way stay. */
export async function removeOldWebhooks(
  service: Service,
  { accessToken }: Tokens,
  now: Clock,
  signal: AbortSignal,
): Promise<readonly EventName[]> {
  const webhooks = await service.listWebhooks(accessToken, signal);
  const old = webhooks.filter(({ criado_em }) => Date.parse(criado_em) + useLimitMs < now());
  for (const { evento } of old) await service.deleteWebhook(accessToken, evento, signal);
  return old.map(({ evento }) => evento);
}

/** Registers for the first event that no other test has taken: an account has one webhook for each. */
export async function registerSomewhere(
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
    `whether so many tests run at once; try again in ${useLimitMs / 60_000} minutes`,
  );
}

/** Removes the test's webhook, also where nobody knows whether it was registered. */
export async function removeWebhook(
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

export interface TestEvent {
  readonly eventName: EventName;
  readonly deliveryId: string;
  /** The message that is sent to the events queue. */
  readonly message: string;
}

/** Makes an event of a test, whose fields have the values of documents. */
export function eventOf(eventName: EventName, id: string): TestEvent {
  return {
    eventName,
    deliveryId: deliveryIdOf(smokeAccount, eventName, id),
    message: JSON.stringify(
      businessEvents.message(eventName, { id_conta: smokeAccount, id }, businessEvents.exampleValues),
    ),
  };
}

/**
 * Asks for the delivery until it was delivered.
 *
 * @throws {TestFinding} where it will not be delivered, or the test ends before it is.
 */
export async function untilDelivered(
  service: Service,
  pause: Pause,
  { accessToken }: Tokens,
  { eventName, deliveryId }: TestEvent,
  signal: AbortSignal,
): Promise<DeliveryDetail> {
  let seen: DeliveryDetail | undefined;
  try {
    for (;;) {
      seen = (await service.findDelivery(accessToken, eventName, deliveryId, signal)) ?? seen;
      if (seen?.estado === 'entregue') return seen;
      const refusal = seen && whyNever(seen);
      if (refusal !== undefined) throw new TestFinding(refusal, placeOf(deliveryId));
      await pause(pollIntervalMs, signal);
    }
  } catch (error) {
    if (!signal.aborted || error instanceof TestFinding) throw error;
    const state = seen ? describeWaiting(seen) : 'no attempt is recorded: the message may still be in the events queue';
    throw new TestFinding(`${endOf(signal)}; ${state}`, seen ? placeOf(deliveryId) : undefined);
  }
}

/** Describes the last attempt at a delivery that was delivered. */
export function describeDelivered({ tentativas }: DeliveryDetail): string {
  const latest = tentativas.at(-1);
  return `answered ${latest?.status} to attempt ${latest?.numero} after ${latest?.duracao_ms} ms`;
}

/**
 * Verifies what arrived against what was published and registered, by the receiver's receipt, and says what that was.
 *
 * @throws {TestFinding}
 */
export function verifyDelivery({
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
  if (!isBodyOf(corpo, event)) throw new TestFinding('the delivery has another body than the event that was published');
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

/** Returns why a delivery will not be delivered in this test; `undefined` where it still may be. */
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

/** The service is asked for the delivery at this interval. In milliseconds. */
const pollIntervalMs = 500;

/** Compares a body with the event's, but for the link: it begins with an address that the test does not know. */
function isBodyOf(body: string, { eventName }: TestEvent): boolean {
  try {
    return withoutLink(body) === withoutLink(businessEvents.body(eventName, businessEvents.exampleValues, ''));
  } catch {
    return false; // it is no JSON
  }
}

function withoutLink(body: string): string {
  return JSON.stringify({ ...JSON.parse(body), link: undefined });
}

/** As in Standard Webhooks. In milliseconds. */
const timestampToleranceMs = 300_000;
