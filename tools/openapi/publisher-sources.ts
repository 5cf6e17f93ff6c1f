import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import { type FieldSchema, messageSchema, type ObjectSchema } from './event-schemas.ts';

/** Returns the publishers' knowledge of the service's schemas: a source in TypeScript and one in Python, path -> content. */
export function publisherSources(): readonly (readonly [file: string, source: string])[] {
  return [
    ['packages/publisher/src/events.ts', typescriptSource()],
    ['packages/publisher/python/src/emissor_publisher/events.py', pythonSource()],
  ];
}

function typescriptSource(): string {
  return `// ${origin}
${EVENT_NAMES.map(typescriptEvent).join('')}
/** An event of any kind. */
export type BusinessEvent =${EVENT_NAMES.map(event => `\n  | ${typeName(event)}`).join('')};

/** The name of an event. */
export type EventName = BusinessEvent['event'];

/** The limits of each field, and what to say of a value that is not within them. */
export const fieldRules: Readonly<Record<string, FieldRule>> = ${literal(fieldRules())};

/** The fields of each event beside \`event\`, in the order in which the service looks at them. */
export const eventFields: Readonly<Record<string, readonly string[]>> = ${literal(eventFields())};

/** The fields that may be absent. */
export const optionalFields: readonly string[] = ${literal(optionalFields())};

/** The fields beside \`event\` that every event has. */
export const commonFields: readonly string[] = ${literal(businessEvents.requiredFields)};

/** The texts about something that is no event, of an \`event\` that is no text, and of one that is unknown. */
export const eventReasons = ${literal(eventReasons())};

/** A text has a pattern and may have a reserved value, or a length that is counted in code points; a whole number has a minimum and a maximum. */
export type FieldRule =
  | { readonly pattern: string; readonly reserved?: string; readonly reason: string }
  | { readonly minLength: number; readonly maxLength: number; readonly reason: string }
  | { readonly minimum: number; readonly maximum: number; readonly reason: string };
`;
}

function typescriptEvent(event: EventName): string {
  const { properties, required } = messageSchema(businessEvents, event);
  const fields = Object.entries(properties).map(([field, schema]) => {
    const type = schema.const ? `'${schema.const}'` : { string: 'string', integer: 'number' }[schema.type];
    const name = required.includes(field) ? `${field}: ${type}` : `${field}?: ${type} | undefined`;
    return `  /** ${descriptionOf(field, schema)} */\n  readonly ${name};\n`;
  });
  return `\n/** ${businessEvents.rows[event].tells} */\nexport interface ${typeName(event)} {\n${fields.join('')}}\n`;
}

function pythonSource(): string {
  return `# ${origin}
"""The events, as the service defines them."""

from typing import Literal, TypedDict, Union

__all__ = ${literal(['BusinessEvent', 'EventName', ...EVENT_NAMES.map(typeName)])}


class _Optional(TypedDict, total=False):
${pythonFields(messageSchema(businessEvents, 'demanda.criada'), field => optionalFields().includes(field))}
${EVENT_NAMES.map(pythonEvent).join('')}

BusinessEvent = Union[${EVENT_NAMES.map(event => `\n    ${typeName(event)},`).join('')}
]
"""An event of any kind."""

EventName = Literal[${EVENT_NAMES.map(event => `\n    "${event}",`).join('')}
]
"""The name of an event."""


class FieldRule(TypedDict, total=False):
    """
    A text has a pattern and may have a reserved value, or a length that is counted in code points; a whole number has a minimum and a
    maximum.
    """

    pattern: str
    reserved: str
    minLength: int
    maxLength: int
    minimum: int
    maximum: int
    reason: str


FIELD_RULES: dict[str, FieldRule] = ${literal(fieldRules())}
"""The limits of each field, and what to say of a value that is not within them."""

EVENT_FIELDS: dict[str, list[str]] = ${literal(eventFields())}
"""The fields of each event beside \`event\`, in the order in which the service looks at them."""

OPTIONAL_FIELDS: list[str] = ${literal(optionalFields())}
"""The fields that may be absent."""

COMMON_FIELDS: list[str] = ${literal(businessEvents.requiredFields)}
"""The fields beside \`event\` that every event has."""

EVENT_REASONS = ${literal(eventReasons())}
"""The texts about something that is no event, of an \`event\` that is no text, and of one that is unknown."""
`;
}

function pythonEvent(event: EventName): string {
  const schema = messageSchema(businessEvents, event);
  const fields = pythonFields(schema, field => schema.required.includes(field));
  return `\n\nclass ${typeName(event)}(_Optional):\n    """${businessEvents.rows[event].tells}"""\n\n${fields}\n`;
}

function pythonFields({ properties }: ObjectSchema, wanted: (field: string) => boolean): string {
  return Object.entries(properties)
    .filter(([field]) => wanted(field))
    .map(([field, schema]) => {
      const type = schema.const ? `Literal["${schema.const}"]` : { string: 'str', integer: 'int' }[schema.type];
      return `    ${field}: ${type}\n    """${descriptionOf(field, schema)}"""`;
    })
    .join('\n');
}

const origin = 'Generated by `npm run openapi` from the schemas of the service. Do not edit it.';

/** Returns a field's description. A publisher makes an id where the caller passes none: what it sends twice is delivered once. */
function descriptionOf(field: string, { description }: FieldSchema): string {
  if (field !== 'id') return description;
  return 'Your own id of the event: of events with the same account, name and id one is delivered. Without it one is made.';
}

/** `proposta.recebida` -> `PropostaRecebida`. */
function typeName(event: EventName): string {
  return event
    .split(/[._]/)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** JSON without true, false and null means the same in both languages. */
function literal(value: object): string {
  return JSON.stringify(value, null, 2);
}

function fieldRules(): Readonly<Record<string, object>> {
  const rules = new Map<string, object>();
  for (const event of EVENT_NAMES) {
    const { properties } = messageSchema(businessEvents, event);
    for (const field of fieldsOf(event)) {
      const rule = { ...limits(properties[field]), reason: reasonFor(event, field) };
      const other = rules.get(field) ?? rule;
      if (JSON.stringify(other) !== JSON.stringify(rule))
        throw new Error(`${field}: its rule differs from event to event.`);
      rules.set(field, rule);
    }
  }
  return Object.fromEntries(rules);
}

function limits({ pattern, not, minLength, maxLength, minimum, maximum }: Partial<FieldSchema> = {}): object {
  return { pattern, reserved: not?.const, minLength, maxLength, minimum, maximum };
}

function reasonFor(event: EventName, field: string): string {
  const { shape } = businessEvents.messageSchemas[event];
  const reason = shape[field as keyof typeof shape].safeParse(null).error?.issues[0]?.message;
  if (reason === undefined) throw new Error(`${field}: null is accepted.`);
  return reason;
}

function eventFields(): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(EVENT_NAMES.map(event => [event, fieldsOf(event)]));
}

function fieldsOf(event: EventName): readonly string[] {
  return Object.keys(businessEvents.messageSchemas[event].shape).filter(field => field !== 'event');
}

function optionalFields(): readonly string[] {
  const { properties, required } = messageSchema(businessEvents, 'demanda.criada');
  return Object.keys(properties).filter(field => !required.includes(field));
}

function eventReasons() {
  return {
    notObject: detailOf([]),
    notText: detailOf({ event: 0 }).replace('event: ', ''),
    unknown: detailOf({ event: '' }).replace('event: ', ''),
  };
}

function detailOf(message: object): string {
  const parsed = parseEventMessage(JSON.stringify(message), '', '');
  if (parsed.outcome === 'event') throw new Error('The message is an event.');
  return parsed.detail;
}
