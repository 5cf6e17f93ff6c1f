import type { Context } from 'aws-lambda';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeHttpHandler } from '../../../lambdas/platform/lambda-handler.ts';
import { makeTelemetry } from '../../../lambdas/platform/telemetry.ts';
import { httpRequest } from '../../support/http-request.ts';
import { turnsUntil } from '../../support/virtual-time.ts';

afterEach(() => vi.unstubAllEnvs());

/** The metrics that an answer with this status writes, in CloudWatch's embedded metric format. */
const metricsOf = async (statusCode: number): Promise<Record<string, unknown>[]> => {
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'Emissor/test');
  const written: Record<string, unknown>[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation(text => Boolean(written.push(JSON.parse(String(text)))));
  const handler = makeHttpHandler(makeTelemetry('token'), async () => ({ statusCode }));
  await handler(httpRequest({}), { functionVersion: '7' } as Context);
  vi.restoreAllMocks();
  return written;
};

describe('the answers of a function', () => {
  it.each([500, 503])(
    'with status %i count for its service, and for all functions behind the APIs together',
    async status => {
      const [line] = await metricsOf(status);
      expect(line).toMatchObject({ service: 'token', functions: 'http', RequestFailed: 1 });
      expect(line?._aws).toMatchObject({
        CloudWatchMetrics: [{ Namespace: 'Emissor/test', Dimensions: [['service'], ['functions']] }],
      });
    },
  );

  it('with status 500 count for its version', async () => {
    const [, line] = await metricsOf(500);
    expect(line).toMatchObject({ service: 'token', version: '7', ServerError: 1 });
    expect(line?._aws).toMatchObject({
      CloudWatchMetrics: [{ Namespace: 'Emissor/test', Dimensions: [['service', 'version']] }],
    });
    expect(await metricsOf(503)).toHaveLength(1);
  });

  it.each([200, 401, 404, 429])('with status %i do not count', async status => {
    expect(await metricsOf(status)).toEqual([]);
  });
});

// Bug: what went on after an early answer took effect minutes later, when Lambda thawed the process.
it('does not answer before its work is over: what times out ends with its process', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const handler = makeHttpHandler(makeTelemetry('token'), () => promise.then(() => ({ statusCode: 200 })));
  const answer = handler(httpRequest({}), { getRemainingTimeInMillis: () => 0 } as Context);
  const end = performance.now() + 10;
  await turnsUntil(() => performance.now() > end);
  resolve();
  expect(await answer).toEqual({ statusCode: 200 });
});
