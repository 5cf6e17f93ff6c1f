import * as z from 'zod';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { eventBodySchemas, eventMessageSchemas } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';

/** A JSON Schema (draft 2020-12) of an object, made of the keywords that the events need. */
export interface ObjectSchema {
  readonly title: string;
  readonly description: string;
  readonly type: 'object';
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: boolean;
  readonly examples: readonly object[];
}

/** The schema of one field. */
export interface FieldSchema {
  readonly type: 'string' | 'integer';
  readonly description: string;
  readonly const?: string;
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** What each event tells, in a sentence. */
export const eventSummaries: Readonly<Record<EventName, string>> = {
  'demanda.criada': 'A demand was created.',
  'demanda.cancelada': 'A demand was cancelled.',
  'demanda.finalizada': 'A demand was finished.',
  'proposta.recebida': 'A demand received a proposal.',
  'proposta.alteracao_valor_solicitado': 'A change of the value of a proposal was requested.',
  'proposta.contratada': 'A proposal was contracted.',
  'mensagem.recebida': 'A message about a proposal was received.',
  'reembolso.solicitado': 'A refund was requested for a proposal.',
};

/** The two schemas of each event as files of their own: file -> document. */
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

/** The message of an event, as publishers send it to the events queue. */
export function messageSchema(event: EventName): ObjectSchema {
  return {
    title: `${event}: message to the events queue`,
    description: `${eventSummaries[event]} What a publisher sends; the service ignores fields that are not listed here.`,
    ...converted(eventMessageSchemas[event], ['id_conta', 'event', 'id_demanda', 'id_proposta', 'id'], {
      ...fieldDescriptions,
      id_demanda: 'The demand.',
      id_proposta: 'The proposal.',
    }),
    additionalProperties: true,
    examples: [exampleMessage(event)],
  };
}

/** The body of an event's delivery, as receivers get it. */
export function deliverySchema(event: EventName): ObjectSchema {
  return {
    title: `${event}: body of the delivery`,
    description: `${eventSummaries[event]} What the registered URL gets by POST. In a test, whose webhook-id begins with teste_, the ids are 0.`,
    ...converted(eventBodySchemas[event], Object.keys(eventBodySchemas[event].shape), {
      ...fieldDescriptions,
      id_demanda: 'The demand; 0 in a test.',
      id_proposta: 'The proposal; 0 in a test.',
    }),
    additionalProperties: false,
    examples: [exampleBody(event)],
  };
}

/** A message that the service accepts. */
function exampleMessage(event: EventName): Readonly<Record<string, string | number>> {
  const values = { id_conta: 'acme', event, id_demanda: 10, id_proposta: 20, id: 'example-1' };
  const { shape } = eventMessageSchemas[event];
  return Object.fromEntries(Object.entries(values).filter(([field]) => field in shape));
}

/** The body with which `exampleMessage` is delivered. */
function exampleBody(event: EventName): Readonly<Record<string, string | number>> {
  const parsed = parseEventMessage(JSON.stringify(exampleMessage(event)), '', 'https://demandas.example.com');
  if (parsed.outcome === 'rejected') throw new Error(`${event}: the example is no message of it: ${parsed.detail}`);
  return JSON.parse(parsed.event.body);
}

const fieldDescriptions: Readonly<Record<string, string>> = {
  id_conta: 'The account that the event belongs to.',
  event: 'The name of the event.',
  id: 'The publisher’s own id of the event: of messages with the same account, event and id one is delivered. Without it the message id of SQS stands in. Characters are code points.',
  link: 'The page of the demand, or of its proposal.',
};

/** What zod makes of a schema, its fields in this order and each described. */
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

/** What zod says of a field. */
type ZodField = Omit<FieldSchema, 'description'>;
