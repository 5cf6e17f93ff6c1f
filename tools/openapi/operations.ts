import { apiRoutes } from '../../lambdas/api/routes.ts';
import { authRoutes } from '../../lambdas/auth/routes.ts';
import { deliveryRoutes } from '../../lambdas/delivery/api/routes.ts';
import { deliveryIdForm } from '../../lambdas/delivery/delivery.ts';
import { replayIdForm } from '../../lambdas/delivery/replay/replay.ts';
import type { RouteTable } from '../../lambdas/platform/route-table.ts';
import { webhookRoutes } from '../../lambdas/webhooks/routes.ts';
import { apiDescriptions, authDescriptions } from './auth-descriptions.ts';
import { deliveryDescriptions } from './delivery-descriptions.ts';
import { type Operation, ref } from './description.ts';
import { delivery, replay, webhook } from './examples.ts';
import type { Schema } from './plain-schemas.ts';
import { webhookDescriptions } from './webhook-descriptions.ts';

/** All operations of both hosts. */
export const operations: readonly Operation[] = [
  ...described('auth', authRoutes, authDescriptions),
  ...described('base', apiRoutes, apiDescriptions),
  ...described('base', webhookRoutes, webhookDescriptions),
  ...described('base', deliveryRoutes, deliveryDescriptions),
];

function described(host: Operation['host'], table: RouteTable, descriptions: Readonly<Record<string, object>>) {
  return Object.values(table).flatMap(({ path, operations: rows }) =>
    Object.entries(rows).map(([id, row]) => {
      const { parameters = [], ...description }: Partial<Operation> = descriptions[id] ?? {};
      const all = [...pathParameters(path), ...parameters];
      return { ...row, ...description, parameters: all, id, host, path } as Operation;
    }),
  );
}

/** Returns the path parameters of an operation. */
function pathParameters(path: string): readonly object[] {
  const parameters = {
    '/{evento}': pathParameter('evento', 'The event of the webhook.', ref('EventName'), webhook.evento),
    '/entregas/{id}': pathParameter(
      'id',
      'The id of the delivery, which is also the value of the `webhook-id` header.',
      { type: 'string', pattern: deliveryIdForm.source },
      delivery.id,
    ),
    '/reenvios/{id}': pathParameter(
      'id',
      'The id of the replay.',
      { type: 'string', pattern: replayIdForm.source },
      replay.id,
    ),
  };
  return Object.entries(parameters).flatMap(([part, parameter]) => (path.includes(part) ? [parameter] : []));
}

function pathParameter(name: string, description: string, schema: Schema, example: string): object {
  return { name, in: 'path', required: true, description, schema, example };
}
