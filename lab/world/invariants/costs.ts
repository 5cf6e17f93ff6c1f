import { readFileSync } from 'node:fs';
import path from 'node:path';
import { matchPath } from '../../../lambdas/api/route.ts';
import { deliveryRoutes } from '../../../lambdas/delivery/api/routes.ts';
import type { Route } from '../../../lambdas/platform/route-table.ts';
import { webhookRoutes } from '../../../lambdas/webhooks/routes.ts';
import type { World } from '../make-world.ts';
import type { Judgement, Violate } from './violation.ts';

/** Checks that no request to {base_url} exceeds the calls in `docs/capacity.md`. With faults, requests may exceed them by retries. */
export function judgeCosts({ costs, faultClass }: World, violate: Violate): Judgement {
  return { judgeEnd };

  function judgeEnd(): void {
    if (faultClass !== 'calm') return;
    for (const { method, path: requested, calls, read } of costs) {
      const request = `${method} ${paths.find(each => matchPath(each, requested) !== undefined)}`;
      const { calls: maxCalls, read: maxRead } = maxOf.get(request) ?? costOf('0', '0');
      // `NaN` also fails this comparison.
      if (!(calls <= maxCalls + token.calls)) violate(`${request} makes ${calls} calls`);
      if (!(read <= maxRead + token.read)) violate(`${request} reads ${read} items`);
    }
  }
}

const paths = [webhookRoutes, deliveryRoutes].flatMap(table => Object.values<Route>(table)).map(route => route.path);

interface Cost {
  readonly calls: number;
  readonly read: number;
}

/** The rows of the tables in `docs/capacity.md`, which contain the maximum calls of each request. */
const rows = readFileSync(path.join(import.meta.dirname, '../../../docs/capacity.md'), 'utf8')
  .split('\n')
  .map(line => line.split('|').map(cell => cell.trim().replaceAll('`', '')));

const maxOf = new Map<string, Cost>(rows.map(([, request = '', calls, read]) => [request, costOf(calls, read)]));

/** The maximum calls for checking the token, in addition to the calls of each request. */
const token = maxOf.get('the token of a request to {base_url}') ?? costOf('0', '0');

function costOf(calls = '', read = ''): Cost {
  return { calls: Number(calls.replaceAll(',', '')), read: Number(read.replaceAll(',', '')) };
}
