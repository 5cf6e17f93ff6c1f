import * as z from 'zod/mini';
import type { EventName } from '../../webhooks/webhook.ts';
import type { EventField } from './event-field.ts';
import { type EventLink, type EventRow, makeEventFormat } from './event-format.ts';

/**
 * The fields that events may have in addition to their envelope, in the order of the documentation. The schemas, documentation, tests and
 * command-line options are generated from the rows.
 */
const eventFields = {
  id_demanda: { kind: 'integer', example: 10, description: 'The demand', option: 'demand' },
  id_proposta: { kind: 'integer', example: 20, description: 'The proposal', option: 'proposal' },
} as const satisfies Readonly<Record<string, EventField>>;

type FieldName = keyof typeof eventFields;

const demand: readonly FieldName[] = ['id_demanda'];
const proposal: readonly FieldName[] = ['id_proposta', 'id_demanda'];

const linkToProposal: EventLink<FieldName> = {
  of: ['id_demanda', 'id_proposta'],
  build: (demandsUrl, { id_demanda, id_proposta }) => `${demandsUrl}/propostas/${id_demanda}/${id_proposta}`,
  schema: z.string().check(z.regex(/^.+\/propostas\/[0-9]+\/[0-9]+$/), z.meta({ format: 'uri' })),
};
const linkToDemand: EventLink<FieldName> = {
  of: ['id_demanda'],
  build: (demandsUrl, { id_demanda }) => `${demandsUrl}/propostas/${id_demanda}`,
  schema: z.string().check(z.regex(/^.+\/propostas\/[0-9]+$/), z.meta({ format: 'uri' })),
};

/** The meaning of each event, its fields in the order of delivery, and its link. */
const eventRows: Readonly<Record<EventName, EventRow<FieldName>>> = {
  'demanda.criada': { description: 'A demand was created.', fields: demand },
  'demanda.cancelada': { description: 'A demand was cancelled.', fields: demand },
  'demanda.finalizada': { description: 'A demand was finished.', fields: demand },
  'proposta.recebida': { description: 'A demand received a proposal.', fields: proposal, link: linkToProposal },
  'proposta.alteracao_valor_solicitado': {
    description: 'A change of the value of a proposal was requested.',
    fields: proposal,
    link: linkToDemand,
  },
  'proposta.contratada': { description: 'A proposal was contracted.', fields: proposal, link: linkToProposal },
  'mensagem.recebida': {
    description: 'A message about a proposal was received.',
    fields: proposal,
    link: linkToDemand,
  },
  'reembolso.solicitado': {
    description: 'A refund was requested for a proposal.',
    fields: proposal,
    link: linkToDemand,
  },
};

/** The events of the product. */
export const businessEvents = makeEventFormat({ fields: eventFields, rows: eventRows });
