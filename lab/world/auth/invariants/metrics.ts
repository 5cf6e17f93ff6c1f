import type { Violate } from '../../invariants/violation.ts';
import type { TokenRequest } from '../journal.ts';
import type { Evidence } from './evidence.ts';

/** Checks that the sums of the metrics match the responses. A crashed process does not record its last request. */
export function checkMetrics({ world, requests, reasonOf }: Evidence, violate: Violate): void {
  const sums = new Map<string, number>();
  for (const { metric, value } of world.metrics.all()) sums.set(metric, (sums.get(metric) ?? 0) + value);
  const reuses = requests.filter(request => reasonOf(request) === 'refresh_token_reused').length;
  const responsesByMetric = Map.groupBy(
    requests.filter(({ response }) => response),
    metricOf,
  );
  const expected = new Map([...responsesByMetric].map(([metric, group]) => [metric, group.length]));
  if (reuses > 0) expected.set('RefreshTokenReuse', reuses);
  for (const metric of new Set([...sums.keys(), ...expected.keys()])) {
    const [sum, expectedSum] = [sums.get(metric) ?? 0, expected.get(metric) ?? 0];
    if (sum !== expectedSum) violate(`the metric ${metric} is ${sum} instead of ${expectedSum}`);
  }
}

function metricOf({ endpoint, form, response }: TokenRequest): string {
  if (response?.status !== 200)
    return String(response?.body.error).replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  if (endpoint === 'revoke') return 'TokenRevoked';
  if (endpoint === 'introspect') return 'TokenIntrospected';
  return form.grant_type === 'password' ? 'TokenIssued' : 'TokenRefreshed';
}
