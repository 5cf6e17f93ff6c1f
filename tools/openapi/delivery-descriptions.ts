import { apiFindings } from '../../lambdas/api/findings.ts';
import { deliveryFindings } from '../../lambdas/delivery/api/findings.ts';
import { historyQuery } from '../../lambdas/delivery/api/input.ts';
import type { deliveryRoutes } from '../../lambdas/delivery/api/routes.ts';
import { wireStates } from '../../lambdas/delivery/representation.ts';
import { type BaseDescriptions, objectFindings } from './description.ts';
import { delivery, deliveryDetail, replay } from './examples.ts';
import { links } from './links.ts';
import type { Schema } from './plain-schemas.ts';
import { parameterSchema } from './schemas.ts';

const { shape } = historyQuery;
const time = { type: 'string', format: 'date-time' };

/** The operations for deliveries, tests and replays of a webhook. */
export const deliveryDescriptions: BaseDescriptions<typeof deliveryRoutes> = {
  sendTest: {
    tag: 'Deliveries',
    summary: 'Send a test',
    description:
      'Sends a sample event with ids of 0, in a single attempt. You can test a suspended webhook, unless an operator suspended it. Each account can send 10 tests a minute.',
    success: {
      status: 202,
      description: 'The test is queued.',
      schema: 'AcceptedDelivery',
      examples: { example: { value: { id: 'teste_0Unh6M0hDjFlJnzs0eQZsx' } } },
      links: links.delivery,
    },
  },
  listDeliveries: {
    tag: 'Deliveries',
    summary: 'List deliveries',
    description:
      'Lists sent and pending deliveries, newest first. Continue with `cursor` until `proximo_cursor` is null. The service stores deliveries for 30 days after their final state, even if you delete the webhook.',
    parameters: [
      queryParameter('estado', 'Only deliveries in this state.', parameterSchema(shape.estado), 'falhou'),
      queryParameter(
        'desde',
        'Only deliveries accepted at this time or later (RFC 3339).',
        time,
        '2026-11-20T00:00:00Z',
      ),
      queryParameter('ate', 'Only deliveries accepted before this time (RFC 3339).', time, '2026-11-21T00:00:00-03:00'),
      queryParameter(
        'limite',
        'The maximum number of deliveries on a page.',
        { ...parameterSchema(shape.limite, 'output'), type: 'integer' },
        20,
      ),
      queryParameter('cursor', 'The `proximo_cursor` of the previous page.', parameterSchema(shape.cursor)),
    ],
    success: {
      status: 200,
      description: 'A page of deliveries.',
      schema: 'DeliveryPage',
      examples: { example: { value: { entregas: [delivery], proximo_cursor: null } } },
      links: links.page,
    },
    findings: [
      { location: { parameter: 'ate' }, finding: apiFindings.date_time },
      { location: { parameter: 'ate' }, finding: deliveryFindings.range },
      { location: { parameter: 'cursor' }, finding: deliveryFindings.cursor },
      {
        location: { parameter: 'estado' },
        finding: apiFindings.choice,
        values: { values: Object.values(wireStates).join(', ') },
      },
      { location: { parameter: 'limite' }, finding: deliveryFindings.limite_range },
      { location: { parameter: 'limite' }, finding: deliveryFindings.repeated },
      { location: { parameter: 'pagina' }, finding: deliveryFindings.unknown_parameter },
    ],
  },
  getDelivery: {
    tag: 'Deliveries',
    summary: 'Get a delivery',
    description: 'Returns a delivery with its body and its latest 30 attempts.',
    success: {
      status: 200,
      description: 'The delivery.',
      schema: 'DeliveryDetail',
      examples: { example: { value: deliveryDetail } },
    },
  },
  resendDelivery: {
    tag: 'Deliveries',
    summary: 'Send a delivery again',
    description:
      'Sends a completed delivery again, with a new retry schedule. Attempts a pending delivery immediately, without changing its schedule. Each webhook allows 60 of these requests a minute.',
    success: {
      status: 202,
      description: 'The delivery is queued.',
      schema: 'AcceptedDelivery',
      examples: { example: { value: { id: delivery.id } } },
      links: links.delivery,
    },
  },
  startReplay: {
    tag: 'Replays',
    summary: 'Start a replay',
    description:
      'Sends all `falhou` or `retida` deliveries from a period again, in the background, at 10 a second. A webhook can have one running replay. A replay excludes tests and deliveries from earlier registrations.',
    body: {
      required: true,
      schema: 'ReplayRequest',
      examples: {
        held: {
          summary: 'Held deliveries from one day',
          value: { desde: '2026-11-20T00:00:00-03:00', ate: '2026-11-21T00:00:00-03:00', estado: 'retida' },
        },
      },
    },
    success: {
      status: 202,
      description: 'The replay is running.',
      schema: 'Replay',
      examples: { example: { value: replay } },
      headers: { Location: 'ReplayLocation' },
      links: links.replay,
    },
    findings: [
      { location: { pointer: '/desde' }, finding: apiFindings.required },
      { location: { pointer: '/desde' }, finding: apiFindings.date_time },
      { location: { pointer: '/ate' }, finding: deliveryFindings.range },
      { location: { pointer: '/estado' }, finding: apiFindings.choice, values: { values: 'falhou, retida' } },
      ...objectFindings,
    ],
  },
  getReplay: {
    tag: 'Replays',
    summary: 'Get a replay',
    description: 'Returns the progress of a replay. The service stores replays for 30 days.',
    success: { status: 200, description: 'The replay.', schema: 'Replay', examples: { example: { value: replay } } },
  },
  cancelReplay: {
    tag: 'Replays',
    summary: 'Cancel a replay',
    description:
      'Cancels a running replay, or deletes a completed one. After a cancellation, the service still sends queued deliveries for about a minute. The other deliveries do not change.',
    success: { status: 204, description: 'The replay is cancelled or deleted.' },
  },
};

/** Describes a query parameter. The service ignores an empty value. */
function queryParameter(name: string, description: string, schema: Schema, example?: unknown): object {
  return { name, in: 'query', allowEmptyValue: true, description, schema, ...(example !== undefined && { example }) };
}
