import { readFileSync } from 'node:fs';
import path from 'node:path';
import { matchPath } from '../../../lambdas/api/route.ts';
import { deliveryRoutes } from '../../../lambdas/delivery/api/routes.ts';
import type { Route } from '../../../lambdas/platform/route-table.ts';
import { webhookRoutes } from '../../../lambdas/webhooks/routes.ts';
import type { World } from '../make-world.ts';
import type { Check, Violate } from './violation.ts';

/** Checks that no request to {base_url} exceeds the limits in `docs/capacity.md`. Worlds with faults are exempt because retries add calls. */
export function checkCosts({ costs, faultClass }: World, violate: Violate): Check {
  return { checkAtEnd };

  function checkAtEnd(): void {
    if (faultClass !== 'none') return;
    for (const { method, path: requestPath, calls, itemsRead } of costs) {
      const request = `${method} ${paths.find(each => matchPath(each, requestPath) !== undefined)}`;
      const { calls: maxCalls, itemsRead: maxRead } = maxCosts.get(request) ?? costOf('0', '0');
      // `NaN` also fails this comparison.
      if (!(calls <= maxCalls + tokenCost.calls)) violate(`${request} makes ${calls} calls`);
      if (!(itemsRead <= maxRead + tokenCost.itemsRead)) violate(`${request} reads ${itemsRead} items`);
    }
  }
}

const paths = [webhookRoutes, deliveryRoutes].flatMap(table => Object.values<Route>(table)).map(route => route.path);

interface Cost {
  readonly calls: number;
  readonly itemsRead: number;
}

/** The rows of the tables in `docs/capacity.md`, which contain the maximum numbers of calls and reads for each request. */
const rows = readFileSync(path.join(import.meta.dirname, '../../../docs/capacity.md'), 'utf8')
  .split('\n')
  .map(line => line.split('|').map(cell => cell.trim().replaceAll('`', '')));

const maxCosts = new Map<string, Cost>(rows.map(([, request = '', calls, read]) => [request, costOf(calls, read)]));

/** The maximum cost of validating the token, in addition to the cost of the request. */
const tokenCost = maxCosts.get('the token of a request to {base_url}') ?? costOf('0', '0');

function costOf(calls = '', read = ''): Cost {
  return { calls: Number(calls.replaceAll(',', '')), itemsRead: Number(read.replaceAll(',', '')) };
}
