import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import type { EventFormat } from '../../lambdas/delivery/intake/event-format.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import { type FieldSchema, messageSchema } from './event-schemas.ts';
import { checkPattern } from './text-pattern.ts';

/** What a publisher knows of the service's schemas, in whatever language it is written. */
export interface PublisherKnowledge {
  readonly types: readonly EventType[];
  /** The limits of each field, and what to say of a value that is not within them. */
  readonly fieldRules: Readonly<Record<string, object>>;
  /** The fields of each event beside `event`, in the order in which the service looks at them. */
  readonly eventFields: Readonly<Record<string, readonly string[]>>;
  /** The fields that may be absent. */
  readonly optionalFields: readonly string[];
  /** The fields beside `event` that every event has. */
  readonly commonFields: readonly string[];
  /** The texts about something that is no event, of an `event` that is no text, and of one that is unknown. */
  readonly eventReasons: Readonly<Record<string, string>>;
}

export interface EventType {
  readonly event: EventName;
  /** Such as `PropostaRecebida`. */
  readonly typeName: string;
  readonly tells: string;
  readonly fields: readonly FieldType[];
}

export interface FieldType {
  readonly name: string;
  readonly description: string;
  readonly type: 'string' | 'integer';
  /** The only value, where there is one. */
  readonly only: string | undefined;
  readonly isOptional: boolean;
}

/**
 * Returns what the publishers know of a catalogue's events.
 *
 * @throws where the pattern of a text does not mean the same everywhere, or where a field has another rule in another event.
 */
export function publisherKnowledge(events: EventFormat): PublisherKnowledge {
  for (const [name, field] of Object.entries(events.fields)) {
    if (field.kind === 'text' && field.pattern) checkPattern(name, field.pattern);
  }
  const types = EVENT_NAMES.map(event => eventType(events, event));
  const optional = types.flatMap(({ fields }) => fields.filter(({ isOptional }) => isOptional));
  return {
    types,
    fieldRules: fieldRules(events),
    eventFields: Object.fromEntries(EVENT_NAMES.map(event => [event, fieldsOf(events, event)])),
    optionalFields: [...new Set(optional.map(({ name }) => name))],
    commonFields: events.requiredFields,
    eventReasons: {
      notObject: detailOf([]),
      notText: detailOf({ event: 0 }).replace('event: ', ''),
      unknown: detailOf({ event: '' }).replace('event: ', ''),
    },
  };
}

function eventType(events: EventFormat, event: EventName): EventType {
  const { properties, required } = messageSchema(events, event);
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    description: descriptionOf(name, schema),
    type: schema.type,
    only: schema.const,
    isOptional: !required.includes(name),
  }));
  return { event, typeName: typeNameOf(event), tells: events.rows[event].tells, fields };
}

/** Returns a field's description. A publisher makes an id where the caller passes none: what it sends twice is delivered once. */
function descriptionOf(field: string, { description }: FieldSchema): string {
  if (field !== 'id') return description;
  return 'Your own id of the event: of events with the same account, name and id one is delivered. Without it one is made.';
}

/** `proposta.recebida` -> `PropostaRecebida`. */
function typeNameOf(event: EventName): string {
  return event
    .split(/[._]/)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function fieldRules(events: EventFormat): Readonly<Record<string, object>> {
  const rules = new Map<string, object>();
  for (const event of EVENT_NAMES) {
    const { properties } = messageSchema(events, event);
    for (const field of fieldsOf(events, event)) {
      const rule = { ...limitsOf(properties[field]), reason: reasonFor(events, event, field) };
      const other = rules.get(field) ?? rule;
      if (JSON.stringify(other) !== JSON.stringify(rule))
        throw new Error(`${field}: its rule differs from event to event.`);
      rules.set(field, rule);
    }
  }
  return Object.fromEntries(rules);
}

/** Returns the fields of an event beside `event`, in the order in which the service looks at them. */
function fieldsOf(events: EventFormat, event: EventName): readonly string[] {
  return Object.keys(events.messageSchemas[event].shape).filter(field => field !== 'event');
}

function limitsOf({ pattern, not, minLength, maxLength, minimum, maximum }: Partial<FieldSchema> = {}): object {
  return { pattern, reserved: not?.const, minLength, maxLength, minimum, maximum };
}

/** Returns what the service says of a value that a field cannot have: `null` is none of any. */
function reasonFor(events: EventFormat, event: EventName, field: string): string {
  const schema = new Map(Object.entries(events.messageSchemas[event].shape)).get(field);
  const reason = schema?.safeParse(null).error?.issues[0]?.message;
  if (reason === undefined) throw new Error(`${field}: null is accepted.`);
  return reason;
}

function detailOf(message: object): string {
  const parsed = parseEventMessage(JSON.stringify(message), '', '');
  if (parsed.outcome === 'event') throw new Error('The message is an event.');
  return parsed.detail;
}
