import { readFileSync } from 'node:fs';
import path from 'node:path';
import { matchPath } from '../../../lambdas/api/route.ts';
import { deliveryRoutes } from '../../../lambdas/delivery/api/routes.ts';
import type { Route } from '../../../lambdas/platform/route-table.ts';
import { webhookRoutes } from '../../../lambdas/webhooks/routes.ts';
import type { World } from '../make-world.ts';
import type { Judgement, Violate } from './violation.ts';

/** Judges that no request to {base_url} in calm exceeds the calls in `docs/capacity.md`. With faults it may retry. */
export function judgeCosts({ costs, faultClass }: World, violate: Violate): Judgement {
  return { judgeEnd };

  function judgeEnd(): void {
    if (faultClass !== 'calm') return;
    for (const { method, path: requested, calls, read } of costs) {
      const request = `${method} ${paths.find(each => matchPath(each, requested) !== undefined)}`;
      const { calls: maxCalls, read: maxRead } = maxOf.get(request) ?? most('0', '0');
      // `NaN` also fails this comparison.
      if (!(calls <= maxCalls + token.calls)) violate(`${request} makes ${calls} calls`);
      if (!(read <= maxRead + token.read)) violate(`${request} reads ${read} items`);
    }
  }
}

const paths = [webhookRoutes, deliveryRoutes].flatMap(table => Object.values<Route>(table)).map(route => route.path);

interface Most {
  readonly calls: number;
  readonly read: number;
}

/** The rows of the page, each with the maximum of a request. */
const rows = readFileSync(path.join(import.meta.dirname, '../../../docs/capacity.md'), 'utf8')
  .split('\n')
  .map(line => line.split('|').map(cell => cell.trim().replaceAll('`', '')));

const maxOf = new Map<string, Most>(rows.map(([, request = '', calls, read]) => [request, most(calls, read)]));

/** The calls for the token, which are added to each row. */
const token = maxOf.get('the token of a request to {base_url}') ?? most('0', '0');

function most(calls = '', read = ''): Most {
  return { calls: Number(calls.replaceAll(',', '')), read: Number(read.replaceAll(',', '')) };
}
