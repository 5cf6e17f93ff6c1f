import { apiFindings } from '../../lambdas/api/findings.ts';
import { deliveryFindings } from '../../lambdas/delivery/api/findings.ts';
import { historyQuery } from '../../lambdas/delivery/api/input.ts';
import { wireStates } from '../../lambdas/delivery/representation.ts';
import { type BaseOperation, eventParameter } from './base-operation.ts';
import { delivery, deliveryDetail } from './examples.ts';
import { pathParameter } from './operation.ts';
import { parameterSchema, type Schema } from './schemas.ts';

const idParameter = pathParameter(
  'id',
  'The id of the delivery: its `webhook-id`.',
  { type: 'string', pattern: '^(?:evt_[A-Za-z0-9_-]{27}|teste_[A-Za-z0-9]{22})$' },
  delivery.id,
);
const parameters = [eventParameter, idParameter];
const { shape } = historyQuery;
const time = { type: 'string', format: 'date-time' };

/** The operations of a webhook's deliveries. */
export const deliveryOperations: readonly BaseOperation[] = [
  {
    id: 'sendTest',
    method: 'post',
    path: '/v1/webhooks/{evento}/teste',
    tag: 'Deliveries',
    summary: 'Send a test',
    description:
      'Sends a sample of the event, whose ids are 0, in one attempt; also while the webhook is suspended, unless by an operator. Ten a minute for the whole account.',
    scope: 'webhooks:manage',
    parameters: [eventParameter],
    success: {
      status: 202,
      description: 'The test is on its way.',
      schema: 'AcceptedDelivery',
      example: { id: 'teste_0Unh6M0hDjFlJnzs0eQZsx' },
    },
    refusals: ['webhook_not_found', 'suspended_by_operator', 'tests_used_up'],
  },
  {
    id: 'listDeliveries',
    method: 'get',
    path: '/v1/webhooks/{evento}/entregas',
    tag: 'Deliveries',
    summary: 'List deliveries',
    description:
      'Lists what was sent or waits, newest first. Go on with `cursor` until `proximo_cursor` is null. Deliveries are kept for 30 days from their final state, also when their webhook is deleted.',
    scope: 'webhooks:read',
    parameters: [
      eventParameter,
      queryParameter('estado', 'Only deliveries in this state.', parameterSchema(shape.estado), 'falhou'),
      queryParameter(
        'desde',
        'Accepted at this time or later (RFC 3339, with an offset).',
        time,
        '2026-11-20T00:00:00Z',
      ),
      queryParameter('ate', 'Accepted before this time (RFC 3339, with an offset).', time, '2026-11-21T00:00:00-03:00'),
      queryParameter(
        'limite',
        'The most deliveries of a page.',
        { ...parameterSchema(shape.limite, 'output'), type: 'integer' },
        20,
      ),
      queryParameter('cursor', 'The `proximo_cursor` of the page before.', parameterSchema(shape.cursor)),
    ],
    success: {
      status: 200,
      description: 'A page of deliveries.',
      schema: 'DeliveryPage',
      example: { entregas: [delivery], proximo_cursor: null },
    },
    refusals: ['webhook_not_found'],
    findings: [
      { place: { parameter: 'ate' }, finding: apiFindings.date_time },
      { place: { parameter: 'ate' }, finding: deliveryFindings.range },
      { place: { parameter: 'cursor' }, finding: deliveryFindings.cursor },
      {
        place: { parameter: 'estado' },
        finding: apiFindings.choice,
        values: { values: Object.values(wireStates).join(', ') },
      },
      { place: { parameter: 'limite' }, finding: deliveryFindings.limite_range },
      { place: { parameter: 'limite' }, finding: deliveryFindings.repeated },
      { place: { parameter: 'pagina' }, finding: deliveryFindings.unknown_parameter },
    ],
  },
  {
    id: 'getDelivery',
    method: 'get',
    path: '/v1/webhooks/{evento}/entregas/{id}',
    tag: 'Deliveries',
    summary: 'Get a delivery',
    description: 'Gives a delivery with its body and its latest 30 attempts.',
    scope: 'webhooks:read',
    parameters,
    success: { status: 200, description: 'The delivery.', schema: 'DeliveryDetail', example: deliveryDetail },
    refusals: ['webhook_not_found', 'delivery_not_found'],
  },
  {
    id: 'resendDelivery',
    method: 'post',
    path: '/v1/webhooks/{evento}/entregas/{id}/reenvio',
    tag: 'Deliveries',
    summary: 'Send a delivery again',
    description:
      'Sends a delivery that has ended again, on a new schedule. One that waits has its next attempt at once, beside its schedule. Sixty a minute for each webhook.',
    scope: 'webhooks:manage',
    parameters,
    success: {
      status: 202,
      description: 'It is on its way.',
      schema: 'AcceptedDelivery',
      example: { id: delivery.id },
    },
    refusals: [
      'webhook_not_found',
      'delivery_not_found',
      'webhook_suspended',
      'webhook_replaced',
      'test_delivery',
      'resends_used_up',
    ],
  },
];

/** An empty parameter is as good as none. */
function queryParameter(name: string, description: string, schema: Schema, example?: unknown): object {
  return { name, in: 'query', allowEmptyValue: true, description, schema, ...(example !== undefined && { example }) };
}
