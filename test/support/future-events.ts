import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { makeEventFormat } from '../../lambdas/delivery/intake/event-format.ts';

/** The events of a possible later release. They have required and optional fields of each kind. */
export const futureEvents = makeEventFormat({
  fields: {
    ...businessEvents.fields,
    protocolo: { kind: 'text', maxLength: 5, example: 'P-1', description: 'The protocol', option: 'protocol' },
    canal: {
      kind: 'text',
      optional: true,
      maxLength: 8,
      pattern: /^[a-z][a-z0-9_]*$/,
      example: 'app',
      description: 'The channel',
      option: 'sales-channel',
    },
    valor: { kind: 'integer', optional: true, example: 990, description: 'The value, in cents', option: 'value' },
  },
  rows: {
    ...businessEvents.rows,
    'demanda.criada': { description: 'A demand was created.', fields: ['id_demanda', 'canal'] },
    'proposta.recebida': {
      ...businessEvents.rows['proposta.recebida'],
      fields: ['id_proposta', 'id_demanda', 'protocolo', 'canal', 'valor'],
    },
  },
});

/** Returns a message for `proposta.recebida`. It omits undefined values. */
export function proposalWith(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const message = {
    ...futureEvents.message('proposta.recebida', { id_conta: 'acme' }, futureEvents.exampleValues),
    ...values,
  };
  return Object.fromEntries(Object.entries(message).filter(([, value]) => value !== undefined));
}
