import * as z from 'zod/mini';
import { EVENT_NAMES, type EventName } from '../../webhooks/webhook.ts';

/** The ids that an event carries. */
interface EventIds {
  readonly id_demanda: number;
  readonly id_proposta?: number;
}

/** The body of an event's delivery, in the order of its schema. `demandsUrl` has no slash at its end. */
export function eventBody(eventName: EventName, ids: EventIds, demandsUrl: string): string {
  const values = { event: eventName, ...ids, link: catalogue[eventName].link?.build(demandsUrl, ids) };
  const names = Object.keys(eventBodySchemas[eventName].shape) as (keyof typeof values)[];
  return JSON.stringify(Object.fromEntries(names.map(name => [name, values[name]])));
}

const notAccount = 'must be 1 to 64 letters, digits, _ or -';
const notText = 'must be 1 to 128 characters';
const notPositiveInteger = 'must be a whole number from 1 to 2^53 - 1';

const envelope = {
  id_conta: z.string(notAccount).check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, notAccount)),
  /** The publisher's idempotency id, counted in characters and not in UTF-16 units, as JSON Schema counts. */
  id: z.optional(
    z.string(notText).check(
      z.refine(id => id !== '' && [...id].length <= 128, notText),
      z.meta({ minLength: 1, maxLength: 128 }),
    ),
  ),
};

const positiveInteger = z.int(notPositiveInteger).check(z.gte(1, notPositiveInteger));
const deliveredInteger = z.int().check(z.gte(0));

const demandFields = { message: { id_demanda: positiveInteger }, body: { id_demanda: deliveredInteger } };
const proposalFields = {
  message: { id_proposta: positiveInteger, id_demanda: positiveInteger },
  body: { id_proposta: deliveredInteger, id_demanda: deliveredInteger },
};

const linkToProposal: Link = {
  build: (demandsUrl, ids) => `${demandsUrl}/propostas/${ids.id_demanda}/${ids.id_proposta}`,
  schema: z.string().check(z.regex(/\/propostas\/[0-9]+\/[0-9]+$/), z.meta({ format: 'uri' })),
};
const linkToDemand: Link = {
  build: (demandsUrl, ids) => `${demandsUrl}/propostas/${ids.id_demanda}`,
  schema: z.string().check(z.regex(/\/propostas\/[0-9]+$/), z.meta({ format: 'uri' })),
};

interface Link {
  readonly build: (demandsUrl: string, ids: EventIds) => string;
  readonly schema: z.ZodMiniString;
}

/**
 * The events and what each carries: the ids its message must have, in the order they are delivered, and its link.
 * `id_proposta` is validated and delivered only where the event has it.
 */
const catalogue: Record<EventName, { fields: typeof demandFields | typeof proposalFields; link?: Link }> = {
  'demanda.criada': { fields: demandFields },
  'demanda.cancelada': { fields: demandFields },
  'demanda.finalizada': { fields: demandFields },
  'proposta.recebida': { fields: proposalFields, link: linkToProposal },
  'proposta.alteracao_valor_solicitado': { fields: proposalFields, link: linkToDemand },
  'proposta.contratada': { fields: proposalFields, link: linkToProposal },
  'mensagem.recebida': { fields: proposalFields, link: linkToDemand },
  'reembolso.solicitado': { fields: proposalFields, link: linkToDemand },
};

/** The message of each event, as publishers send it to the events queue. Fields that it does not name are ignored. */
export const eventMessageSchemas = byEvent(event =>
  z.object({ ...envelope, event: z.literal(event), ...catalogue[event].fields.message }),
);

/**
 * The body of each event, as it is delivered: these fields in this order, nothing else. The ids of a test, whose
 * `webhook-id` begins with `teste_`, are 0; those of an event never are.
 */
export const eventBodySchemas = byEvent(event => {
  const { fields, link } = catalogue[event];
  return z.strictObject({ event: z.literal(event), ...fields.body, ...(link && { link: link.schema }) });
});

function byEvent<Schema>(schemaOf: (event: EventName) => Schema): Readonly<Record<EventName, Schema>> {
  return Object.fromEntries(EVENT_NAMES.map(event => [event, schemaOf(event)])) as Record<EventName, Schema>;
}
