import { hash } from 'node:crypto';
import { isAccountId, smokeAccount } from '../../auth/principals/account.ts';
import { EVENT_NAMES, type EventName, isEventName } from '../../webhooks/webhook.ts';
import { businessEvents } from './event-catalogue.ts';
import type { EventFormat } from './event-format.ts';

/** The reason for rejecting a queue message. `detail` describes the problem to the publisher and never quotes the message. */
export interface RejectedMessage {
  readonly reason: 'malformed' | 'unknown_event';
  readonly detail: string;
}

/** The result of parsing a message from the events queue. */
export type ParsedMessage =
  | { readonly outcome: 'event'; readonly event: BusinessEvent }
  | ({ readonly outcome: 'rejected' } & Partial<RejectedEvent> & RejectedMessage);

interface RejectedEvent {
  /** The id that the delivery would have, if the message contains the required fields. */
  readonly deliveryId: string | undefined;
  /** The publisher's own `id`, unchanged. */
  readonly publisherId: string | undefined;
  /** The account and the event in the message, if they are valid. */
  readonly accountId: string | undefined;
  readonly eventName: EventName | undefined;
}

/** Returns the delivery id of an event, which is also its `webhook-id`. It is the same for every copy with the same publisher's `id`. */
export function deliveryIdOf(accountId: string, eventName: string, id: string): string {
  const digest = hash('sha256', JSON.stringify([accountId, eventName, id]), 'base64url');
  return `evt_${digest.slice(0, 27)}`;
}

/** Returns the body of a test. `demandsUrl` has no trailing slash. */
export function sampleBody(eventName: EventName, demandsUrl: string): string {
  return businessEvents.body(eventName, businessEvents.sampleValues, demandsUrl);
}

/** Returns whether two bodies are equal except for the link, which changes with the stage's base URL. */
export function haveSameContent(stored: string, copy: string): boolean {
  return stored === copy || withoutLink(stored) === withoutLink(copy);
}

/**
 * Parses a message from the events queue. If the publisher set no `id`, uses `messageId`, which is the same each time SQS delivers the
 * message.
 *
 * @param events - the event format. Only tests pass another format.
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
  const identity = rejectedEvent(message, messageId);
  if (eventName === undefined) {
    const hint = envelopeHint(message);
    const absent = hint === '' ? events.requiredFields.filter(field => !Object.hasOwn(message, field)) : []; // the envelope may contain them
    const problems = ['event', ...absent].map(field => `${field}: ${missing}`).join('; ');
    return rejected('malformed', `${problems}${hint}`, identity);
  }
  if (typeof eventName !== 'string') {
    return rejected('malformed', `event: must be a string${envelopeHint(message)}`, identity);
  }
  if (!isEventName(eventName)) {
    return rejected('unknown_event', `event: must be one of ${EVENT_NAMES.join(', ')}`, identity);
  }

  const schema = isSmokeTest(message) ? events.smokeMessageSchema(eventName) : events.messageSchemas[eventName];
  const parsed = schema.safeParse(message);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path: [field = ''], message: problem }) => {
      const isPresent = Object.hasOwn(message, field);
      return `${String(field)}: ${isPresent ? problem : missing}`;
    });
    return rejected('malformed', problems.join('; '), identity);
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
  /** The id of the delivery (`evt_…`), which is also its `webhook-id` header. It is the same for every copy of the event. */
  readonly deliveryId: string;
  /** The publisher's own `id`, if set. */
  readonly publisherId: string | undefined;
  readonly accountId: string;
  readonly eventName: EventName;
  /** The request body, which has exactly `event` and the event's fields in the order of the catalogue. */
  readonly body: string;
}

/** The length of smoke test ids, which consist of letters and digits. */
export const smokeTestIdLength = 22;

/**
 * Returns whether a message has the form of a smoke test. Other messages for the smoke test's account are rejected. A message that imitates
 * the form can reach only the smoke test's receiver.
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

function rejected(reason: RejectedMessage['reason'], detail: string, identity?: RejectedEvent): ParsedMessage {
  return { outcome: 'rejected', reason, detail, ...identity };
}

/** Returns the valid ids and names in a rejected message, which help the publisher find the message. */
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

/** Returns a hint if the fields show that a service wrapped the event in an envelope. */
function envelopeHint(message: object): string {
  const hint = Object.entries(envelopeHints).find(([names]) => names.split(',').every(name => name in message))?.[1];
  return hint === undefined ? '' : `; ${hint}`;
}

/** The hints by envelope fields. The first match applies, because a subscription confirmation has all fields of a notification. */
const envelopeHints: Readonly<Record<string, string>> = {
  'TopicArn,SubscribeURL':
    'this is the subscription confirmation of an SNS topic, which Emissor ignores: subscribe from the account of the events queue',
  'TopicArn,Message': 'this is the envelope of an SNS topic: enable raw message delivery for the subscription',
  'detail-type,detail':
    'this is the envelope of an EventBridge rule: set InputPath of its target to $.detail, or use an input transformer',
};
