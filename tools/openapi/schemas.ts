import * as z from 'zod';
import { problemBody } from '../../lambdas/api/problem.ts';
import * as oauth from '../../lambdas/auth/answers.ts';
import * as deliveries from '../../lambdas/delivery/api/answers.ts';
import { replayRequest } from '../../lambdas/delivery/api/input.ts';
import { deliveryDetail, deliveryRecord } from '../../lambdas/delivery/representation.ts';
import * as webhooks from '../../lambdas/webhooks/answers.ts';
import { registration, replacement, secretRotation } from '../../lambdas/webhooks/input.ts';
import { webhookRecord } from '../../lambdas/webhooks/representation.ts';
import { EVENT_NAMES, eventNameSchema } from '../../lambdas/webhooks/webhook.ts';
import { deliverySchema } from './event-schemas.ts';
import { formSchemas } from './forms.ts';
import { notes, type SchemaNote } from './schema-notes.ts';

/** A JSON Schema, draft 2020-12. */
export type Schema = Readonly<Record<string, unknown>>;

/** The name of a schema of the document. */
export type SchemaName =
  | keyof typeof requests
  | keyof typeof responses
  | keyof typeof formSchemas
  | 'GatewayMessage'
  | ReturnType<typeof eventBodyName>;

/** The schemas of the document: those of the functions, with descriptions, and the few that no function has. */
export function componentSchemas(): Record<string, Schema> {
  const described = Object.entries({ ...converted(responses, 'output'), ...converted(requests, 'input') }).map(
    ([name, schema]) => [name, describe(schema, (notes as Record<string, SchemaNote>)[name])] as const,
  );
  return sorted({ ...Object.fromEntries(described), ...eventBodies(), ...formSchemas, GatewayMessage: gatewayMessage });
}

/** A reference to one of them. */
export function ref(name: SchemaName): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The schema of a parameter: as it is written, or, by `output`, as it is read. */
export function parameterSchema(schema: z.core.$ZodType, io: 'input' | 'output' = 'input'): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, override: simplify });
  return rest;
}

/** The name of the schema of an event's body. */
export function eventBodyName(eventName: string) {
  return `Event.${eventName}` as const;
}

const requests = {
  EventName: eventNameSchema,
  NewWebhook: registration,
  WebhookReplacement: replacement,
  SecretRotation: secretRotation,
  ReplayRequest: replayRequest,
};

const responses = {
  EventName: eventNameSchema,
  Webhook: webhookRecord,
  WebhookList: webhooks.webhookList,
  RegisteredWebhook: webhooks.registeredWebhook,
  NewSecret: webhooks.newSecret,
  Delivery: deliveryRecord,
  DeliveryDetail: deliveryDetail,
  DeliveryPage: deliveries.deliveryPage,
  AcceptedDelivery: deliveries.acceptedDelivery,
  Replay: deliveries.replayRecord,
  Problem: problemBody,
  TokenResponse: oauth.tokenResponse,
  Revocation: oauth.revocation,
  Introspection: oauth.introspection,
  ActiveAccessToken: oauth.activeAccessToken,
  ActiveRefreshToken: oauth.activeRefreshToken,
  InactiveToken: oauth.inactiveToken,
  ServerMetadata: oauth.serverMetadata,
  KeySet: oauth.keySet,
  ProtectedResourceMetadata: oauth.protectedResourceMetadata,
  OAuthError: oauth.oauthErrorBody,
};

/** What API Gateway answers by itself, before or after a function. */
const gatewayMessage = {
  type: 'object',
  description: 'An answer of the gateway itself, without `code`.',
  properties: { message: { type: ['string', 'null'], examples: ['Too Many Requests'] } },
  required: ['message'],
  additionalProperties: false,
};

/** Schemas that refer to each other by name. */
function converted(schemas: Record<string, z.core.$ZodType>, io: 'input' | 'output'): Record<string, Schema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const uri = (id: string) => `#/components/schemas/${id}`;
  const { schemas: found } = z.toJSONSchema(registry, { io, uri, override: simplify });
  return Object.fromEntries(
    Object.entries(found).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema as Schema]),
  );
}

function eventBodies(): Record<string, Schema> {
  return Object.fromEntries(
    EVENT_NAMES.map(event => [eventBodyName(event), { ...deliverySchema(event), title: event }]),
  );
}

/** Leaves out what says nothing to a reader: the calendar as a pattern, and the largest integers of JavaScript. */
function simplify({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}

/** Adds to a schema, and to what it holds, what zod does not say. @throws for a note on what is not there. */
function describe(schema: Schema, note: SchemaNote | undefined): Schema {
  if (!note) return schema;
  const { properties: notes = {}, items: noteOnItems, ...own } = note;
  const { properties, items } = schema as { properties?: Record<string, Schema>; items?: Schema };
  const unknown = Object.keys(notes).filter(name => !properties?.[name]);
  if (unknown.length > 0 || (noteOnItems && !items)) throw new Error(`A note is on what is not there: ${unknown}.`);
  const described = Object.entries(properties ?? {}).map(([name, property]) => [name, describe(property, notes[name])]);
  return {
    ...own,
    ...schema,
    ...own,
    ...(properties && { properties: Object.fromEntries(described) }),
    ...(items && { items: describe(items, noteOnItems) }),
  };
}

function sorted(schemas: Record<string, Schema>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1)));
}
