import { smokeAccount } from '../auth/principals/account.ts';
import { deliveryIdOf } from '../delivery/intake/event.ts';
import { signatureHeader } from '../delivery/worker/signature.ts';
import type { EventName } from '../webhooks/webhook.ts';
import { digestOf, parseReceipt } from './receipt.ts';
import type { DeliveryDetail } from './service.ts';
import { TestFinding } from './step-record.ts';

/** The event of a test. */
export interface TestEvent {
  readonly eventName: EventName;
  readonly deliveryId: string;
  /** What is sent to the events queue. */
  readonly message: string;
  readonly ids: { readonly id_demanda: number; readonly id_proposta: number };
}

/** The events need different ids. All are given; the service leaves out what an event does not have. */
export function eventOf(eventName: EventName, id: string): TestEvent {
  const ids = { id_demanda: 1, id_proposta: 1 };
  return {
    eventName,
    deliveryId: deliveryIdOf(smokeAccount, eventName, id),
    message: JSON.stringify({ id_conta: smokeAccount, event: eventName, ...ids, id }),
    ids,
  };
}

/**
 * Verifies what arrived against what was published and registered, by the receiver's receipt. Says what was verified.
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
  const { link: _, ...sent } = parseJson(body);
  return (
    'event' in sent && 'id_demanda' in sent && Object.entries(sent).every(([name, value]) => content[name] === value)
  );
}

function parseJson(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** As in Standard Webhooks. In milliseconds. */
const timestampToleranceMs = 300_000;
