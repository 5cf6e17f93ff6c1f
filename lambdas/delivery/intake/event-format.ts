import * as z from 'zod/mini';
import { isReservedAccount, smokeAccount } from '../../auth/principals/account.ts';
import { EVENT_NAMES, type EventName } from '../../webhooks/webhook.ts';
import { deliveredField, type EventField, type FieldValue, sampleOf, sentField, textSchema } from './event-field.ts';

export interface EventCatalogue {
  /** The fields that events may have in addition to their envelope, in the order of the documentation. */
  readonly fields: Readonly<Record<string, EventField>>;
  readonly rows: Readonly<Record<EventName, EventRow>>;
}

export interface EventRow<FieldName extends string = string> {
  /** The meaning of the event, as a sentence. */
  readonly description: string;
  /** The fields of the event in the order of delivery. */
  readonly fields: readonly FieldName[];
  readonly link?: EventLink<FieldName>;
}

/** The link of an event. The service builds it from the values of the event's fields. */
export interface EventLink<FieldName extends string> {
  /** The fields in the link. They must be required integers, because a string could change the destination of the URL. */
  readonly of: readonly FieldName[];
  readonly build: (demandsUrl: string, values: EventValues<FieldName>) => string;
  readonly schema: z.ZodMiniString;
}

export type EventValues<FieldName extends string = string> = {
  readonly [Name in FieldName]?: FieldValue | undefined;
};

export type EventFormat = ReturnType<typeof makeEventFormat>;

/**
 * Creates the messages and delivery bodies of a catalogue's events, and the schemas for both.
 *
 * @throws {Error} if a link uses a field that is optional or not an integer.
 */
export function makeEventFormat({ fields, rows }: EventCatalogue) {
  for (const event of EVENT_NAMES) for (const name of rows[event].link?.of ?? []) requireForLink(event, name);
  /** The schema of each event's message in the events queue. Unknown fields are ignored. */
  const messageSchemas = Object.fromEntries(EVENT_NAMES.map(event => [event, messageSchemaOf(event)])) as Readonly<
    Record<EventName, ReturnType<typeof messageSchemaOf>>
  >;
  return {
    fields,
    rows,
    messageSchemas,
    smokeMessageSchema,
    bodySchema,
    message,
    body,
    /** The fields that every message has in addition to `event`. */
    requiredFields: ['id_conta', ...Object.keys(fields).filter(isInEveryMessage)],
    /** The values in tests. */
    sampleValues: valuesOf(sampleOf),
    /** The values in the documentation. */
    exampleValues: valuesOf(field => field.example),
  };

  /** Returns the schema for a smoke test's message. Its account is reserved for the service itself. */
  function smokeMessageSchema(event: EventName) {
    return messageSchemaOf(event, anyAccount);
  }

  function messageSchemaOf(event: EventName, id_conta: z.ZodMiniType<string> = envelope.id_conta) {
    return z.object({ ...envelope, id_conta, event: z.literal(event), ...schemasOf(event, sentField) });
  }

  /** Returns the schema for an event's body, which has exactly these fields in this order. Sample bodies also match it. */
  function bodySchema(event: EventName) {
    const { link } = rows[event];
    const own = schemasOf(event, deliveredField);
    return z.strictObject({ event: z.literal(event), ...own, ...(link && { link: link.schema }) });
  }

  /** Returns the message of an event as publishers send it. Omits values of fields that the event does not have. */
  function message(
    event: EventName,
    { id_conta, id }: { readonly id_conta: string; readonly id?: string | undefined },
    values: EventValues,
  ) {
    const names = rows[event].fields;
    const own = Object.entries(values).filter(([name]) => names.includes(name));
    return { id_conta, event, ...Object.fromEntries(own), ...(id !== undefined && { id }) };
  }

  /** Returns the body of an event's delivery, with the fields in the order of the event's row. `demandsUrl` has no trailing slash. */
  function body(event: EventName, values: EventValues, demandsUrl: string): string {
    const { fields: names, link } = rows[event];
    const own = Object.fromEntries(names.map(name => [name, values[name]]));
    return JSON.stringify({ event, ...own, link: link?.build(demandsUrl, values) });
  }

  function schemasOf<Schema>(event: EventName, schemaOf: (field: EventField) => Schema) {
    return Object.fromEntries(rows[event].fields.map(name => [name, schemaOf(fieldOf(name))]));
  }

  function fieldOf(name: string): EventField {
    const field = fields[name];
    if (!field) throw new Error(`The catalogue does not describe the field ${name}.`);
    return field;
  }

  function requireForLink(event: EventName, name: string): void {
    const { kind, optional } = fieldOf(name);
    const isRequiredInteger = kind === 'integer' && !optional && rows[event].fields.includes(name);
    if (!isRequiredInteger)
      throw new Error(`The link of ${event} uses ${name}, which is not a required integer field of the event.`);
  }

  function isInEveryMessage(name: string): boolean {
    return !fieldOf(name).optional && EVENT_NAMES.every(event => rows[event].fields.includes(name));
  }

  function valuesOf(choose: (field: EventField) => FieldValue): EventValues {
    return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, choose(field)]));
  }
}

const notAccount = `must be a string of 1 to 64 letters, digits, _ or -, and not ${smokeAccount}`;

const anyAccount = z.string(notAccount).check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, notAccount));

const envelope = {
  id_conta: anyAccount.check(
    z.refine(id => !isReservedAccount(id), notAccount),
    z.meta({ not: { const: smokeAccount } }),
  ),
  /** The publisher's idempotency key. */
  id: z.optional(textSchema({ maxLength: 128 })),
};
