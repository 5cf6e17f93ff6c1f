import * as z from 'zod';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { type EventField, sampleOf } from '../../lambdas/delivery/intake/event-field.ts';
import type { EventFormat } from '../../lambdas/delivery/intake/event-format.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import { furtherFields } from './plain-schemas.ts';
import { checkPattern } from './text-pattern.ts';

/** A JSON Schema (draft 2020-12) of an object. It declares only the keywords that the event schemas use. */
export interface ObjectSchema {
  readonly title: string;
  readonly description: string;
  readonly type: 'object';
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: true | typeof furtherFields;
  readonly examples: readonly object[];
}

interface FieldSchema {
  readonly type: 'string' | 'integer';
  readonly description: string;
  readonly const?: string;
  readonly pattern?: string;
  readonly not?: { readonly const: string };
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/**
 * Returns the message schema and the delivery schema of each event, as pairs of file name and document.
 *
 * @throws if implementations could interpret a pattern differently
 */
export function eventSchemaFiles(events: EventFormat): readonly (readonly [file: string, document: object])[] {
  for (const [name, field] of Object.entries(events.fields)) {
    if (field.kind === 'text' && field.pattern) checkPattern(name, field.pattern);
  }
  const file = (event: EventName, kind: string, schema: ObjectSchema) =>
    [
      `docs/api/events/${event}.${kind}.json`,
      { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: `urn:emissor:event:${event}:${kind}`, ...schema },
    ] as const;
  return EVENT_NAMES.flatMap(event => [
    file(event, 'message', messageSchema(events, event)),
    file(event, 'delivery', deliverySchema(events, event)),
  ]);
}

/** Returns the schema of the message that publishers send to the events queue. */
export function messageSchema(events: EventFormat, event: EventName): ObjectSchema {
  return {
    title: `${event}: message to the events queue`,
    description: `${events.rows[event].description} A publisher sends this message. The service ignores fields that the schema does not list.`,
    ...convert(events.messageSchemas[event], ['id_conta', 'event', ...Object.keys(events.fields), 'id'], {
      ...fieldDescriptions,
      ...describedFields(events, ({ description }) => `${description}.`),
    }),
    additionalProperties: true,
    examples: [exampleMessage(events, event)],
  };
}

/** Returns the schema of the body that receivers get. */
export function deliverySchema(events: EventFormat, event: EventName): ObjectSchema {
  const schema = events.bodySchema(event);
  return {
    title: `${event}: body of the delivery`,
    description: `${events.rows[event].description} The body of the POST to the registered URL. Future versions may add fields. A test has ids of 0 and a webhook-id that starts with teste_.`,
    ...convert(schema, Object.keys(schema.shape), {
      ...fieldDescriptions,
      ...describedFields(events, field => `${field.description}. It is ${sampleOf(field)} in a test.`),
    }),
    additionalProperties: furtherFields,
    examples: [exampleBody(events, event)],
  };
}

/** Returns the schema of deliveries for any current or future event. Fields that only some events have are optional. */
export function anyDeliverySchema(events: EventFormat) {
  const schemas = EVENT_NAMES.map(event => deliverySchema(events, event));
  const { pattern: _, ...link } = Object.assign({}, ...schemas.map(({ properties }) => properties.link));
  const event = {
    type: 'string',
    description: `The name of the event. Current values: ${EVENT_NAMES.map(name => `\`${name}\``).join(', ')}. Future versions may add values.`,
    'x-extensible-enum': EVENT_NAMES,
  };
  return {
    title: 'Event',
    description:
      'The body of the POST to the registered URL, for any event. Ignore unknown events, and respond to them with 2xx.',
    type: 'object',
    properties: { ...Object.assign({}, ...schemas.map(({ properties }) => properties)), event, link },
    required: ['event'],
    additionalProperties: furtherFields,
    examples: [exampleBody(events, 'demanda.criada'), exampleBody(events, 'proposta.recebida')],
  };
}

/** Returns a message that the service accepts. */
function exampleMessage(events: EventFormat, event: EventName): object {
  return events.message(event, { id_conta: 'acme', id: 'example-1' }, events.exampleValues);
}

/** Returns the delivery body of an event's example message. */
export function exampleBody(events: EventFormat, event: EventName): Readonly<Record<string, string | number>> {
  const message = JSON.stringify(exampleMessage(events, event));
  const parsed = parseEventMessage(message, '', 'https://demandas.example.com', events);
  if (parsed.outcome === 'rejected') throw new Error(`${event}: the example message is invalid: ${parsed.detail}`);
  return JSON.parse(parsed.event.body);
}

function describedFields({ fields }: EventFormat, describe: (field: EventField) => string) {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, describe(field)]));
}

const fieldDescriptions: Readonly<Record<string, string>> = {
  id_conta: 'The account to which the event belongs.',
  event: 'The name of the event.',
  id: 'The publisher’s id for the event. The service delivers only one of several messages with the same account, event and id. The default is the SQS message id. The length is in code points.',
  link: 'The URL of the page for the demand or proposal.',
};

/** Converts a zod schema. Orders its fields and adds a description to each. */
function convert(schema: z.core.$ZodType, order: readonly string[], descriptions: Readonly<Record<string, string>>) {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
  const fields = order.filter(field => field in properties);
  const described = fields.map(field => [
    field,
    { description: descriptions[field] ?? '', ...plainField(properties[field] as ZodField) },
  ]);
  return {
    type: 'object' as const,
    properties: Object.fromEntries(described) as ObjectSchema['properties'],
    required: fields.filter(field => required.includes(field)),
  };
}

/** Unescapes slashes. Adds a format to integers, because generators otherwise use 32 bits. */
function plainField(field: ZodField): ZodField {
  return {
    ...field,
    ...(field.pattern !== undefined && { pattern: field.pattern.replaceAll('\\/', '/') }),
    ...(field.type === 'integer' && { format: 'int64' }),
  };
}

type ZodField = Omit<FieldSchema, 'description'>;
