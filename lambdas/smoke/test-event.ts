import { smokeAccount } from '../auth/principals/account.ts';
import { deliveryIdOf, haveSameContent } from '../delivery/intake/event.ts';
import { eventBody, eventMessage, exampleValues } from '../delivery/intake/event-catalogue.ts';
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
}

/** Makes an event of a test, whose fields have the values of documents. */
export function eventOf(eventName: EventName, id: string): TestEvent {
  return {
    eventName,
    deliveryId: deliveryIdOf(smokeAccount, eventName, id),
    message: JSON.stringify(eventMessage(eventName, { id_conta: smokeAccount, id }, exampleValues)),
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

/** Compares a body with the event's, but for the link: it begins with an address that the test does not know. */
function isBodyOf(body: string, { eventName }: TestEvent): boolean {
  try {
    return haveSameContent(body, eventBody(eventName, exampleValues, ''));
  } catch {
    return false; // it is no JSON
  }
}

/** As in Standard Webhooks. In milliseconds. */
const timestampToleranceMs = 300_000;
