import * as z from 'zod/mini';
import { isReservedAccount, smokeAccount } from '../../auth/principals/account.ts';
import { EVENT_NAMES, type EventName } from '../../webhooks/webhook.ts';

/** Returns the body of an event's delivery: its fields in the order of its row. `demandsUrl` has no slash at its end. */
export function eventBody(eventName: EventName, values: EventValues, demandsUrl: string): string {
  const { fields, link } = eventCatalogue[eventName];
  const own = Object.fromEntries(fields.map(name => [name, values[name]]));
  return JSON.stringify({ event: eventName, ...own, link: link?.build(demandsUrl, values) });
}

/** Returns the message of an event, as publishers send it: of the values those that the event has. */
export function eventMessage(
  event: EventName,
  { id_conta, id }: { readonly id_conta: string; readonly id?: string | undefined },
  values: EventValues,
) {
  const names: readonly string[] = eventCatalogue[event].fields;
  const own = Object.entries(values).filter(([name]) => names.includes(name));
  return { id_conta, event, ...Object.fromEntries(own), ...(id !== undefined && { id }) };
}

/** Returns the schema of an event's body: these fields in this order, nothing else. A sample fits it, too. */
export function eventBodySchema(event: EventName) {
  const { fields, link } = eventCatalogue[event];
  const own = Object.fromEntries(fields.map(name => [name, eventFields[name].body]));
  return z.strictObject({ event: z.literal(event), ...own, ...(link && { link: link.schema }) });
}

const notPositiveInteger = 'must be a whole number from 1 to 2^53 - 1';

/** A positive whole number, which is 0 in a test: no event has that. */
const number = {
  message: z.int(notPositiveInteger).check(z.gte(1, notPositiveInteger)),
  body: z.int().check(z.gte(0)),
  sample: 0,
};

/**
 * The fields that events may have beside their envelope, in the order in which documents list them. A row says everything
 * about a field: schemas, documents, publishers, tests and the command line are made of it.
 */
export const eventFields = {
  id_demanda: { ...number, example: 10, about: 'The demand', option: 'demand' },
  id_proposta: { ...number, example: 20, about: 'The proposal', option: 'proposal' },
} satisfies Readonly<Record<string, EventField<number>>>;

/** The description of a field. */
interface EventField<Value> {
  /** The value as publishers send it. Its error says what it must be. */
  readonly message: z.ZodMiniType<Value>;
  /** The value as receivers get it. */
  readonly body: z.ZodMiniType<Value>;
  /** The value in tests. */
  readonly sample: Value;
  /** The value in documents. */
  readonly example: Value;
  /** The meaning of the field: a sentence without its full stop. */
  readonly about: string;
  /** The name of its option of `ops publish`. */
  readonly option: string;
}

/** The name of a field. */
export type FieldName = keyof typeof eventFields;

/** Values of fields, by name. */
export type EventValues = { readonly [Name in FieldName]?: (typeof eventFields)[Name]['sample'] | undefined };

/** The values in tests. A function that does not use them has them not in its bundle. */
export const sampleValues = /* @__PURE__ */ valuesOf('sample');

/** The values in documents. */
export const exampleValues = /* @__PURE__ */ valuesOf('example');

function valuesOf(column: 'sample' | 'example'): EventValues {
  return Object.fromEntries(Object.entries(eventFields).map(([name, field]) => [name, field[column]]));
}

const demand = ['id_demanda'] as const;
const proposal = ['id_proposta', 'id_demanda'] as const;

const linkToProposal: Link = {
  build: (demandsUrl, { id_demanda, id_proposta }) => `${demandsUrl}/propostas/${id_demanda}/${id_proposta}`,
  schema: z.string().check(z.regex(/^.+\/propostas\/[0-9]+\/[0-9]+$/), z.meta({ format: 'uri' })),
};
const linkToDemand: Link = {
  build: (demandsUrl, { id_demanda }) => `${demandsUrl}/propostas/${id_demanda}`,
  schema: z.string().check(z.regex(/^.+\/propostas\/[0-9]+$/), z.meta({ format: 'uri' })),
};

interface Link {
  readonly build: (demandsUrl: string, values: EventValues) => string;
  readonly schema: z.ZodMiniString;
}

/** The events: what each tells, its fields in the order in which they are delivered, and its link. */
export const eventCatalogue: Readonly<Record<EventName, EventRow>> = {
  'demanda.criada': { tells: 'A demand was created.', fields: demand },
  'demanda.cancelada': { tells: 'A demand was cancelled.', fields: demand },
  'demanda.finalizada': { tells: 'A demand was finished.', fields: demand },
  'proposta.recebida': { tells: 'A demand received a proposal.', fields: proposal, link: linkToProposal },
  'proposta.alteracao_valor_solicitado': {
    tells: 'A change of the value of a proposal was requested.',
    fields: proposal,
    link: linkToDemand,
  },
  'proposta.contratada': { tells: 'A proposal was contracted.', fields: proposal, link: linkToProposal },
  'mensagem.recebida': { tells: 'A message about a proposal was received.', fields: proposal, link: linkToDemand },
  'reembolso.solicitado': { tells: 'A refund was requested for a proposal.', fields: proposal, link: linkToDemand },
};

interface EventRow {
  readonly tells: string;
  readonly fields: readonly FieldName[];
  readonly link?: Link;
}

const notAccount = `must be a string of 1 to 64 letters, digits, _ or -, and not ${smokeAccount}`;
const notText = 'must be a string of 1 to 128 characters';

const anyAccount = z.string(notAccount).check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, notAccount));

const envelope = {
  id_conta: anyAccount.check(
    z.refine(id => !isReservedAccount(id), notAccount),
    z.meta({ not: { const: smokeAccount } }),
  ),
  /** The publisher's idempotency id, counted in characters and not in UTF-16 units, as JSON Schema counts. */
  id: z.optional(
    z.string(notText).check(
      z.refine(id => id !== '' && [...id].length <= 128, notText),
      z.meta({ minLength: 1, maxLength: 128 }),
    ),
  ),
};

/** The message of each event, as publishers send it to the events queue. Fields that it does not name are ignored. */
export const eventMessageSchemas = Object.fromEntries(
  EVENT_NAMES.map(event => [event, messageSchemaOf(event)]),
) as Readonly<Record<EventName, ReturnType<typeof messageSchemaOf>>>;

/** Returns the schema of the message of a smoke test, whose account nobody else may name. */
export function smokeMessageSchema(event: EventName) {
  return messageSchemaOf(event, anyAccount);
}

/** The fields beside `event` that every message has. */
export const requiredFields: readonly string[] = [
  'id_conta',
  ...Object.keys(eventFields).filter(name =>
    EVENT_NAMES.every(event => eventCatalogue[event].fields.some(field => field === name)),
  ),
];

function messageSchemaOf(event: EventName, id_conta: z.ZodMiniType<string> = envelope.id_conta) {
  const { fields } = eventCatalogue[event];
  const own: Record<string, z.ZodMiniType> = Object.fromEntries(fields.map(name => [name, eventFields[name].message]));
  return z.object({ ...envelope, id_conta, event: z.literal(event), ...(own as OwnFields) });
}

/** An event has some of them. */
type OwnFields = { readonly [Name in FieldName]: z.ZodMiniOptional<(typeof eventFields)[Name]['message']> };
