import * as z from 'zod';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import {
  eventBodySchema,
  eventCatalogue,
  eventFields,
  eventMessage,
  eventMessageSchemas,
  exampleValues,
} from '../../lambdas/delivery/intake/event-catalogue.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import { furtherFields } from './plain-schemas.ts';

/** A JSON Schema (draft 2020-12) of an object, made of the keywords that the events need. */
export interface ObjectSchema {
  readonly title: string;
  readonly description: string;
  readonly type: 'object';
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: true | typeof furtherFields;
  readonly examples: readonly object[];
}

/** The schema of one field. */
export interface FieldSchema {
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

/** Returns the two schemas of each event as files of their own: file -> document. */
export function eventSchemaFiles(): readonly (readonly [file: string, document: object])[] {
  const file = (event: EventName, kind: string, schema: ObjectSchema) =>
    [
      `docs/api/events/${event}.${kind}.json`,
      { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: `urn:emissor:event:${event}:${kind}`, ...schema },
    ] as const;
  return EVENT_NAMES.flatMap(event => [
    file(event, 'message', messageSchema(event)),
    file(event, 'delivery', deliverySchema(event)),
  ]);
}

/** Returns the message of an event, as publishers send it to the events queue. */
export function messageSchema(event: EventName): ObjectSchema {
  return {
    title: `${event}: message to the events queue`,
    description: `${eventCatalogue[event].tells} What a publisher sends; the service ignores fields that are not listed here.`,
    ...converted(eventMessageSchemas[event], ['id_conta', 'event', ...Object.keys(eventFields), 'id'], {
      ...fieldDescriptions,
      ...describedFields(({ about }) => `${about}.`),
    }),
    additionalProperties: true,
    examples: [exampleMessage(event)],
  };
}

/** Returns the body of an event's delivery, as receivers get it. */
export function deliverySchema(event: EventName): ObjectSchema {
  const schema = eventBodySchema(event);
  return {
    title: `${event}: body of the delivery`,
    description: `${eventCatalogue[event].tells} What the registered URL gets by POST; further fields may come. In a test, whose webhook-id begins with teste_, the ids are 0.`,
    ...converted(schema, Object.keys(schema.shape), {
      ...fieldDescriptions,
      ...describedFields(({ about, sample }) => `${about}; ${sample} in a test.`),
    }),
    additionalProperties: furtherFields,
    examples: [exampleBody(event)],
  };
}

/** Returns the schema of any delivery, today's or a later one: fields that only some events have are not required. */
export function anyDeliverySchema() {
  const schemas = EVENT_NAMES.map(deliverySchema);
  const { pattern: _, ...link } = Object.assign({}, ...schemas.map(({ properties }) => properties.link));
  const event = {
    type: 'string',
    description: `The name of the event. Today: ${EVENT_NAMES.map(name => `\`${name}\``).join(', ')}. Others may come.`,
    'x-extensible-enum': EVENT_NAMES,
  };
  return {
    title: 'Event',
    description:
      'What the registered URL gets by POST, whatever the event. Answer one that you do not know with 2xx, and drop it.',
    type: 'object',
    properties: { ...Object.assign({}, ...schemas.map(({ properties }) => properties)), event, link },
    required: ['event'],
    additionalProperties: furtherFields,
    examples: [exampleBody('demanda.criada'), exampleBody('proposta.recebida')],
  };
}

/** Returns a message that the service accepts. */
function exampleMessage(event: EventName): object {
  return eventMessage(event, { id_conta: 'acme', id: 'example-1' }, exampleValues);
}

/** Returns the body with which its example is delivered. */
export function exampleBody(event: EventName): Readonly<Record<string, string | number>> {
  const parsed = parseEventMessage(JSON.stringify(exampleMessage(event)), '', 'https://demandas.example.com');
  if (parsed.outcome === 'rejected') throw new Error(`${event}: the example is no message of it: ${parsed.detail}`);
  return JSON.parse(parsed.event.body);
}

function describedFields(describe: (field: (typeof eventFields)[keyof typeof eventFields]) => string) {
  return Object.fromEntries(Object.entries(eventFields).map(([name, field]) => [name, describe(field)]));
}

const fieldDescriptions: Readonly<Record<string, string>> = {
  id_conta: 'The account that the event belongs to.',
  event: 'The name of the event.',
  id: 'The publisher’s own id of the event: of messages with the same account, event and id one is delivered. Without it the message id of SQS stands in. Characters are code points.',
  link: 'The page of the demand, or of its proposal.',
};

/** Returns zod's JSON Schema of a schema, its fields in this order and each described. */
function converted(schema: z.core.$ZodType, order: readonly string[], descriptions: Readonly<Record<string, string>>) {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
  const fields = order.filter(field => field in properties);
  const described = fields.map(field => [
    field,
    { description: descriptions[field] ?? '', ...asWritten(properties[field] as ZodField) },
  ]);
  return {
    type: 'object' as const,
    properties: Object.fromEntries(described) as ObjectSchema['properties'],
    required: fields.filter(field => required.includes(field)),
  };
}

/** A slash needs no escape in a JSON Schema. Generators take an integer for one of 32 bits unless its format says otherwise. */
function asWritten(field: ZodField): ZodField {
  return {
    ...field,
    ...(field.pattern !== undefined && { pattern: field.pattern.replaceAll('\\/', '/') }),
    ...(field.type === 'integer' && { format: 'int64' }),
  };
}

/** A field as zod describes it. */
type ZodField = Omit<FieldSchema, 'description'>;
