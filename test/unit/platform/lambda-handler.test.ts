import type { Context } from 'aws-lambda';
import { afterEach, expect, it, vi } from 'vitest';
import { makeHttpHandler } from '../../../lambdas/platform/lambda-handler.ts';
import { makeTelemetry } from '../../../lambdas/platform/telemetry.ts';
import { httpRequest } from '../../support/http-request.ts';
import { runLoopUntil } from '../../support/virtual-time.ts';

afterEach(() => vi.unstubAllEnvs());

// Alarms count responses with 500 or 503 of all functions, and with 500 of each version (docs/runbook.md, RequestsFail and ReleaseFails).
it.each([
  [500, ['RequestFailed', 'ServerError']],
  [503, ['RequestFailed']],
  ...[200, 401, 404, 429].map((status): [number, string[]] => [status, []]),
])('a response with status %i counts as %j', async (statusCode, expected) => {
  vi.stubEnv('METRICS_NAMESPACE', 'Emissor/test');
  const lines: { _aws: { CloudWatchMetrics: { Namespace: string; Dimensions: string[][] }[] } }[] = [];
  const stdout = vi
    .spyOn(process.stdout, 'write')
    .mockImplementation(text => Boolean(lines.push(JSON.parse(String(text)))));
  const handler = makeHttpHandler(makeTelemetry('token'), async () => ({ statusCode }));
  await handler(httpRequest({}), { functionVersion: '7' } as Context);
  stdout.mockRestore();
  const metrics = {
    RequestFailed: {
      dimensions: [['service'], ['functions']],
      values: { service: 'token', functions: 'http', RequestFailed: 1 },
    },
    ServerError: { dimensions: [['service', 'version']], values: { service: 'token', version: '7', ServerError: 1 } },
  };
  const expectedMetrics = expected.map(name => metrics[name as keyof typeof metrics]);
  expect(lines).toMatchObject(expectedMetrics.map(({ values }) => values));
  expect(lines.map(({ _aws }) => _aws.CloudWatchMetrics)).toMatchObject(
    expectedMetrics.map(({ dimensions }) => [{ Namespace: 'Emissor/test', Dimensions: dimensions }]),
  );
});

it('a failed invocation writes its metrics before the next invocation', async () => {
  const lines: string[] = [];
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation(text => Boolean(lines.push(String(text))));
  const telemetry = makeTelemetry('token');
  const handler = makeHttpHandler(telemetry, async () => {
    telemetry.count('InvalidGrant');
    throw new Error('out of order');
  });
  await expect(handler(httpRequest({}), {} as Context)).rejects.toThrow('out of order');
  stdout.mockRestore();
  expect(lines.map(line => JSON.parse(line))).toMatchObject([{ message: 'invocation.failed' }, { InvalidGrant: 1 }]);
});

it('a handler responds only after its work, even if its time has elapsed', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const handler = makeHttpHandler(makeTelemetry('token'), () => promise.then(() => ({ statusCode: 200 })));
  const response = handler(httpRequest({}), { getRemainingTimeInMillis: () => 0 } as Context);
  const end = performance.now() + 10;
  await runLoopUntil(() => performance.now() > end);
  resolve();
  expect(await response).toEqual({ statusCode: 200 });
});
