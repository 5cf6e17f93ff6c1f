import { hash } from 'node:crypto';
import { isAccountId, smokeAccount } from '../../auth/principals/account.ts';
import { EVENT_NAMES, type EventName, isEventName } from '../../webhooks/webhook.ts';
import { businessEvents } from './event-catalogue.ts';
import type { EventFormat } from './event-format.ts';

/** The reason why a queue message is not an event. `detail` describes the fix for the publisher and never repeats the message. */
export interface RejectedMessage {
  readonly reason: 'malformed' | 'unknown_event';
  readonly detail: string;
}

/** The outcome of reading a message of the events queue. */
export type ParsedMessage =
  | { readonly outcome: 'event'; readonly event: BusinessEvent }
  | ({ readonly outcome: 'rejected' } & Partial<RejectedEvent> & RejectedMessage);

interface RejectedEvent {
  /** The id of the delivery for a valid event. */
  readonly deliveryId: string | undefined;
  /** The publisher's own `id`, unchanged. */
  readonly publisherId: string | undefined;
  /** The account and the event in the message, if they are valid. */
  readonly accountId: string | undefined;
  readonly eventName: EventName | undefined;
}

/** Returns the id of an event's delivery, which is its `webhook-id` and the same for every copy of the event with the publisher's `id`. */
export function deliveryIdOf(accountId: string, eventName: string, id: string): string {
  const digest = hash('sha256', JSON.stringify([accountId, eventName, id]), 'base64url');
  return `evt_${digest.slice(0, 27)}`;
}

/** Returns the body of a test. `demandsUrl` has no slash at its end. */
export function sampleBody(eventName: EventName, demandsUrl: string): string {
  return businessEvents.body(eventName, businessEvents.sampleValues, demandsUrl);
}

/** Returns whether two bodies are equal except for the link, which depends on the ids and on an address that the stage may change. */
export function haveSameContent(stored: string, copy: string): boolean {
  return stored === copy || withoutLink(stored) === withoutLink(copy);
}

/**
 * Reads a message of the events queue. `messageId` is used if the publisher set no `id`, because it is the same each time the queue
 * delivers the message.
 *
 * @param events - the catalogue of the product, except in tests of other catalogues.
 */
export function parseEventMessage(
  text: string,
  messageId: string,
  demandsUrl: string,
  events: EventFormat = businessEvents,
): ParsedMessage {
  const message = parseJson(text);
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return rejected('malformed', 'the message is not a JSON object');
  }
  const eventName = 'event' in message ? message.event : undefined;
  const refused = rejectedEvent(message, messageId);
  if (eventName === undefined) {
    const hint = envelopeHint(message);
    const absent = hint === '' ? events.requiredFields.filter(field => !Object.hasOwn(message, field)) : []; // they are in the envelope
    const problems = ['event', ...absent].map(field => `${field}: ${missing}`).join('; ');
    return rejected('malformed', `${problems}${hint}`, refused);
  }
  if (typeof eventName !== 'string') {
    return rejected('malformed', `event: must be a string${envelopeHint(message)}`, refused);
  }
  if (!isEventName(eventName)) {
    return rejected('unknown_event', `event: must be one of ${EVENT_NAMES.join(', ')}`, refused);
  }

  const schema = isSmokeTest(message) ? events.smokeMessageSchema(eventName) : events.messageSchemas[eventName];
  const parsed = schema.safeParse(message);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path: [field = ''], message: problem }) => {
      const isThere = Object.hasOwn(message, field);
      return `${String(field)}: ${isThere ? problem : missing}`;
    });
    return rejected('malformed', problems.join('; '), refused);
  }
  const { id_conta: accountId, id: publisherId } = parsed.data;
  return {
    outcome: 'event',
    event: {
      deliveryId: deliveryIdOf(accountId, eventName, publisherId ?? messageId),
      publisherId,
      accountId,
      eventName,
      body: events.body(eventName, parsed.data, demandsUrl),
    },
  };
}

export interface BusinessEvent {
  /** `evt_…`, the same for every copy of the event. It is the delivery's id and the `webhook-id` header. */
  readonly deliveryId: string;
  /** The publisher's own `id`, if set. */
  readonly publisherId: string | undefined;
  readonly accountId: string;
  readonly eventName: EventName;
  /** The request body, which has exactly `event` and the event's fields in the order of the catalogue. */
  readonly body: string;
}

/** The length of the ids of smoke tests, which consist of letters and digits. */
export const smokeTestIdLength = 22;

/**
 * Returns whether a message has the form of a smoke test. Other messages in its account, such as messages sent by mistake, are rejected.
 * A message that imitates the form reaches at most the receiver of a test.
 */
function isSmokeTest(message: object): boolean {
  const { id_conta, id } = message as Readonly<Record<string, unknown>>;
  return id_conta === smokeAccount && typeof id === 'string' && smokeTestId.test(id);
}

const smokeTestId = new RegExp(`^[0-9A-Za-z]{${smokeTestIdLength}}$`);

const missing = 'is missing';

function withoutLink(body: string): string {
  const { link: _, ...fields } = JSON.parse(body);
  return JSON.stringify(fields);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function rejected(reason: RejectedMessage['reason'], detail: string, refused?: RejectedEvent): ParsedMessage {
  return { outcome: 'rejected', reason, detail, ...refused };
}

/** Returns the ids by which the publisher finds a rejected message: its delivery's id and the publisher's id. */
function rejectedEvent(message: object, messageId: string): RejectedEvent {
  const { id_conta, event, id = messageId } = message as Readonly<Record<string, unknown>>;
  const isText = (value: unknown): value is string => typeof value === 'string';
  return {
    deliveryId: isText(id_conta) && isText(event) && isText(id) ? deliveryIdOf(id_conta, event, id) : undefined,
    publisherId: 'id' in message && isText(id) ? id : undefined,
    accountId: isText(id_conta) && isAccountId(id_conta) ? id_conta : undefined,
    eventName: isText(event) && isEventName(event) ? event : undefined,
  };
}

/** Returns the hint for a message in which a service wrapped the event, selected by the fields of its envelope. */
function envelopeHint(message: object): string {
  const hint = Object.entries(envelopeHints).find(([names]) => names.split(',').every(name => name in message))?.[1];
  return hint === undefined ? '' : `; ${hint}`;
}

/** The hints. The first match applies, because a subscription confirmation has all fields of a notification. */
const envelopeHints: Readonly<Record<string, string>> = {
  'TopicArn,SubscribeURL':
    'an SNS topic asks to confirm its subscription, which Emissor does not do: let the account of the events queue subscribe',
  'TopicArn,Message': 'this is the envelope of an SNS topic: switch on raw message delivery for its subscription',
  'detail-type,detail':
    'this is the envelope of an EventBridge rule: give its target the InputPath $.detail, or an input transformer',
};
