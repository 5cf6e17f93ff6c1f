import { apiFindings } from '../../lambdas/api/findings.ts';
import { deliveryFindings } from '../../lambdas/delivery/api/findings.ts';
import { type BaseOperation, eventParameter, objectFindings } from './base-operation.ts';
import { replay } from './examples.ts';
import { pathParameter } from './operation.ts';

const idParameter = pathParameter(
  'id',
  'The id of the replay.',
  { type: 'string', pattern: '^reenvio_[A-Za-z0-9]{22}$' },
  replay.id,
);
const parameters = [eventParameter, idParameter];

/** The operations of a webhook's replays. */
export const replayOperations: readonly BaseOperation[] = [
  {
    id: 'startReplay',
    method: 'post',
    path: '/v1/webhooks/{evento}/reenvios',
    tag: 'Replays',
    summary: 'Start a replay',
    description:
      'Sends all `falhou` or `retida` deliveries of a span of time again, ten a second, in the background. One replay of a webhook runs at a time. Tests, and deliveries of earlier registrations, are left out.',
    scope: 'webhooks:manage',
    parameters: [eventParameter],
    body: {
      required: true,
      schema: 'ReplayRequest',
      examples: {
        held: {
          summary: 'What was held on a day',
          value: { desde: '2026-11-20T00:00:00-03:00', ate: '2026-11-21T00:00:00-03:00', estado: 'retida' },
        },
      },
    },
    success: {
      status: 202,
      description: 'The replay runs.',
      schema: 'Replay',
      example: { ...replay, total: null, enviadas: 0 },
      headers: { Location: 'ReplayLocation' },
    },
    refusals: ['webhook_not_found', 'webhook_suspended', 'replay_in_progress'],
    findings: [
      { place: { pointer: '/desde' }, finding: apiFindings.required },
      { place: { pointer: '/desde' }, finding: apiFindings.date_time },
      { place: { pointer: '/ate' }, finding: deliveryFindings.range },
      { place: { pointer: '/estado' }, finding: apiFindings.choice, values: { values: 'falhou, retida' } },
      ...objectFindings,
    ],
  },
  {
    id: 'getReplay',
    method: 'get',
    path: '/v1/webhooks/{evento}/reenvios/{id}',
    tag: 'Replays',
    summary: 'Get a replay',
    description: 'Tells how far a replay is. Replays are kept for 30 days.',
    scope: 'webhooks:read',
    parameters,
    success: { status: 200, description: 'The replay.', schema: 'Replay', example: replay },
    refusals: ['webhook_not_found', 'replay_not_found'],
  },
  {
    id: 'cancelReplay',
    method: 'delete',
    path: '/v1/webhooks/{evento}/reenvios/{id}',
    tag: 'Replays',
    summary: 'Cancel a replay',
    description: 'Cancels a replay that runs: what it has not sent stays as it was. One that has ended is forgotten.',
    scope: 'webhooks:manage',
    parameters,
    success: { status: 204, description: 'It is cancelled, or forgotten.' },
    refusals: ['webhook_not_found', 'replay_not_found'],
  },
];
