import { createHash } from 'node:crypto';
import { type BusinessEvent, eventFields } from './events.ts';

/** A valid event as a message of the queue. */
export interface Message {
  /** Its place among the events given, from 0. */
  readonly index: number;
  readonly id: string;
  readonly webhookId: string;
  readonly account: string;
  readonly body: string;
}

/** Returns the header `webhook-id` of the deliveries of an event, given the event's `id`. */
export function webhookIdOf(account: string, eventName: string, id: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([account, eventName, id]))
    .digest('base64url');
  return `evt_${digest.slice(0, 27)}`;
}

/** Makes the message of a valid event. Its size is at most 8 KiB. */
export function messageOf(event: BusinessEvent, index: number, makeId: () => string): Message {
  const { id_conta: account, event: eventName, id = makeId() } = event;
  const values: Readonly<Record<string, unknown>> = { ...event, id };
  const fields = ['event', ...(eventFields[eventName] ?? [])].map(field => [field, values[field]]);
  const body = inAscii(JSON.stringify(Object.fromEntries(fields)));
  return { index, id, webhookId: webhookIdOf(account, eventName, id), account, body };
}

/** SQS refuses the characters U+FFFE and U+FFFF, and with them the whole request: escaped they are ASCII. */
function inAscii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
