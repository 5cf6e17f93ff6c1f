import * as z from 'zod';
import { finding, problemBody } from '../../lambdas/api/problem.ts';
import * as oauth from '../../lambdas/auth/responses.ts';
import { replayRequest } from '../../lambdas/delivery/api/input.ts';
import * as deliveries from '../../lambdas/delivery/api/responses.ts';
import { attemptRecord, deliveryDetail, deliveryRecord } from '../../lambdas/delivery/representation.ts';
import { registration, replacement, secretRotation } from '../../lambdas/webhooks/input.ts';
import { replacedSecret, webhookRecord } from '../../lambdas/webhooks/representation.ts';
import * as webhooks from '../../lambdas/webhooks/responses.ts';
import { eventNameSchema } from '../../lambdas/webhooks/webhook.ts';
import { extensible, plain, type Schema } from './plain-schemas.ts';

export type FunctionSchemaName = keyof typeof requests | keyof typeof responses | 'Problem';

/** The members to add to a schema, and the notes on its properties by name. */
export type SchemaNote = {
  readonly properties?: Readonly<Record<string, SchemaNote>>;
  readonly items?: SchemaNote | undefined;
  readonly [member: string]: unknown;
};

/** Returns the functions' schemas with their notes. Request schemas reject unknown fields, and response schemas allow them. */
export function describedSchemas(
  notes: Readonly<Partial<Record<FunctionSchemaName, SchemaNote>>>,
): Record<string, Schema> {
  const described = (schemas: Record<string, Schema>) =>
    Object.entries(schemas).map(
      ([name, schema]) => [name, describe(plain(schema), notes[name as FunctionSchemaName])] as const,
    );
  return Object.fromEntries([
    ...described(converted(requests, 'input')),
    ...described(byStatus(converted(responses, 'output'))).map(([name, schema]) => [name, extensible(schema)] as const),
  ]);
}

/** Returns the schema for a parameter. With `output`, it describes the parsed value. */
export function parameterSchema(schema: z.core.$ZodType, io: 'input' | 'output' = 'input'): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, override: simplify });
  return rest;
}

const requests = {
  EventName: eventNameSchema,
  WebhookRegistration: registration,
  WebhookReplacement: replacement,
  SecretRotation: secretRotation,
  ReplayRequest: replayRequest,
};

const responses = {
  Webhook: webhookRecord,
  ReplacedSecret: replacedSecret,
  WebhookList: webhooks.webhookList,
  EventWithoutWebhook: webhooks.eventWithoutWebhook,
  RegisteredWebhook: webhooks.registeredWebhook,
  SigningSecret: webhooks.newSecret,
  Delivery: deliveryRecord,
  DeliveryDetail: deliveryDetail,
  Attempt: attemptRecord,
  DeliveryPage: deliveries.deliveryPage,
  AcceptedDelivery: deliveries.acceptedDelivery,
  Replay: deliveries.replayRecord,
  ValidationProblem: problemBody,
  Finding: finding,
  TokenResponse: oauth.tokenResponse,
  Revocation: oauth.revocation,
  Introspection: oauth.introspection,
  ServerMetadata: oauth.serverMetadata,
  PublicKey: oauth.publicKey,
  KeySet: oauth.keySet,
  ProtectedResourceMetadata: oauth.protectedResourceMetadata,
  OAuthError: oauth.oauthErrorBody,
};

/** Converts schemas, which may refer to each other by name. */
function converted(schemas: Record<string, z.core.$ZodType>, io: 'input' | 'output'): Record<string, Schema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const uri = (id: string) => `#/components/schemas/${id}`;
  const { schemas: generated } = z.toJSONSchema(registry, { io, uri, override: simplify });
  return Object.fromEntries(
    Object.entries(generated).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema as Schema]),
  );
}

/** Creates separate schemas for errors with and without findings. Only status 422 has findings. */
function byStatus({ ValidationProblem, ...schemas }: Record<string, Schema>): Record<string, Schema> {
  const { properties, required } = ValidationProblem as { properties: Record<string, Schema>; required: string[] };
  const { errors, ...others } = properties;
  return {
    ...schemas,
    Problem: { ...ValidationProblem, properties: others },
    ValidationProblem: {
      ...ValidationProblem,
      properties: { ...others, errors },
      required: [...required, 'errors'],
    },
  };
}

/**
 * Removes the pattern of dates and the limits of JavaScript's integers, which do not help readers. Adds the format of
 * 64-bit integers, because generators otherwise use 32 bits.
 */
function simplify({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) {
    delete jsonSchema.maximum;
    jsonSchema.format = 'int64';
  }
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}

/** Adds notes to a schema and its parts. @throws if a note refers to a missing part */
function describe(schema: Schema, note: SchemaNote | undefined): Schema {
  if (!note) return schema;
  const { properties: notes = {}, items: noteOnItems, ...own } = note;
  const { properties, items } = schema as { properties?: Record<string, Schema>; items?: Schema };
  const unknown = Object.keys(notes).filter(name => !properties?.[name]);
  if (unknown.length > 0 || (noteOnItems && !items)) throw new Error(`Notes refer to missing parts: ${unknown}.`);
  const described = Object.entries(properties ?? {}).map(([name, property]) => [name, describe(property, notes[name])]);
  return {
    ...own,
    ...schema,
    ...own,
    ...(properties && { properties: Object.fromEntries(described) }),
    ...(items && { items: describe(items, noteOnItems) }),
  };
}
