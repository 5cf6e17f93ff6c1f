import * as z from 'zod';
import { problemBody } from '../../lambdas/api/problem.ts';
import * as oauth from '../../lambdas/auth/answers.ts';
import * as deliveries from '../../lambdas/delivery/api/answers.ts';
import { replayRequest } from '../../lambdas/delivery/api/input.ts';
import { deliveryDetail, deliveryRecord } from '../../lambdas/delivery/representation.ts';
import * as webhooks from '../../lambdas/webhooks/answers.ts';
import { registration, replacement, secretRotation } from '../../lambdas/webhooks/input.ts';
import { webhookRecord } from '../../lambdas/webhooks/representation.ts';
import { eventNameSchema } from '../../lambdas/webhooks/webhook.ts';

/** A JSON Schema, draft 2020-12. */
export type Schema = Readonly<Record<string, unknown>>;

/** The names of the schemas of the functions. */
export type FunctionSchemaName = keyof typeof requests | keyof typeof responses;

/** Members to add to a schema; those of its properties by name. */
export type SchemaNote = {
  readonly properties?: Readonly<Record<string, SchemaNote>>;
  readonly items?: SchemaNote | undefined;
  readonly [member: string]: unknown;
};

/** Returns the schemas of the functions, and what is noted of them. */
export function describedSchemas(
  notes: Readonly<Partial<Record<FunctionSchemaName, SchemaNote>>>,
): Record<string, Schema> {
  const schemas = { ...converted(responses, 'output'), ...converted(requests, 'input') };
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, describe(schema, notes[name as FunctionSchemaName])]),
  );
}

/** Returns the schema of a parameter: as it is written, or, by `output`, as it is read. */
export function parameterSchema(schema: z.core.$ZodType, io: 'input' | 'output' = 'input'): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, override: simplify });
  return rest;
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
