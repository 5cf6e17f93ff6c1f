import { apiRoutes } from '../../lambdas/api/routes.ts';
import { authRoutes } from '../../lambdas/auth/routes.ts';
import { deliveryRoutes } from '../../lambdas/delivery/api/routes.ts';
import type { RouteTable } from '../../lambdas/platform/route-table.ts';
import { webhookRoutes } from '../../lambdas/webhooks/routes.ts';
import { apiDescriptions, authDescriptions } from './auth-descriptions.ts';
import { deliveryDescriptions } from './delivery-descriptions.ts';
import type { Operation } from './description.ts';
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
    Object.entries(rows).map(([id, row]) => ({ ...row, ...descriptions[id], id, host, path }) as Operation),
  );
}
