import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeMetrics } from '../../../lambdas/platform/metrics.ts';

const lines: unknown[] = [];
beforeEach(() => {
  vi.stubEnv('METRICS_NAMESPACE', 'Emissor/test');
  vi.spyOn(process.stdout, 'write').mockImplementation(text => Boolean(lines.push(JSON.parse(String(text)))));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  lines.length = 0;
});

const header = (Dimensions: string[][], ...Metrics: object[]) => ({
  Timestamp: 1_000,
  CloudWatchMetrics: [{ Namespace: 'Emissor/test', Dimensions, Metrics }],
});

describe('metrics in the embedded metric format', () => {
  it('have all values of an invocation in one line', () => {
    const { add, flush } = makeMetrics('delivery', () => 1_000);
    for (const value of [1, 0, 1]) add('Delivered', 'Count', value);
    add('OldestDue', 'Milliseconds', 250);
    expect(lines).toEqual([]);
    flush();
    flush();
    const metrics = [
      { Name: 'Delivered', Unit: 'Count' },
      { Name: 'OldestDue', Unit: 'Milliseconds' },
    ];
    const _aws = header([['service']], ...metrics);
    expect(lines).toEqual([{ _aws, service: 'delivery', Delivered: [1, 0, 1], OldestDue: 250 }]);
  });

  it('have at most 100 values in a line, as CloudWatch allows', () => {
    const { add, flush } = makeMetrics('delivery', () => 1_000);
    for (let value = 0; value < 250; value++) add('Delivered', 'Count', value);
    flush();
    const values = lines.map(line => (line as { Delivered: number[] }).Delivered);
    expect(values.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(values.flat()).toEqual(Array.from({ length: 250 }, (_, index) => index));
  });

  it('count at once under each set of dimensions', () => {
    const { add, countNow } = makeMetrics('token', () => 1_000);
    add('InvalidGrant', 'Count', 1);
    countNow('RequestFailed', { service: 'token', version: '7' }, { functions: 'http' });
    const _aws = header([['service', 'version'], ['functions']], { Name: 'RequestFailed', Unit: 'Count' });
    expect(lines).toEqual([{ _aws, service: 'token', version: '7', functions: 'http', RequestFailed: 1 }]);
  });
});
