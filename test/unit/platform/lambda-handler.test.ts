import type { Context } from 'aws-lambda';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeHttpHandler } from '../../../lambdas/platform/lambda-handler.ts';
import { makeTelemetry } from '../../../lambdas/platform/telemetry.ts';
import { httpRequest } from '../../support/http-request.ts';

afterEach(() => vi.unstubAllEnvs());

/** The metrics that an answer with this status writes, in CloudWatch's embedded metric format. */
const metricsOf = async (statusCode: number): Promise<Record<string, unknown>[]> => {
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'Emissor/test');
  const written: Record<string, unknown>[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation(text => Boolean(written.push(JSON.parse(String(text)))));
  const handler = makeHttpHandler(makeTelemetry('token'), async () => ({ statusCode }), {});
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

describe('an answer on a host that is left', () => {
  const sunset = 'Wed, 01 Dec 2027 23:59:59 GMT';
  const shared = { statusCode: 204, headers: { 'cache-control': 'no-store' } };
  const answerOn = async (
    host: string,
    left: Parameters<typeof makeHttpHandler>[2] = { formerHost: 'old.example.com', formerHostSunset: sunset },
  ) => {
    const handler = makeHttpHandler(makeTelemetry('token'), async () => shared, left);
    return handler(httpRequest({ headers: { host } }), {} as Context);
  };

  it('says until when, beside its other headers', async () => {
    const { headers } = shared;
    expect(await answerOn('old.example.com')).toEqual({ statusCode: 204, headers: { ...headers, sunset } });
    expect(await answerOn('OLD.example.com')).toMatchObject({ headers: { sunset } });
  });

  it('is the only one that says so', async () => {
    await answerOn('old.example.com');
    expect(await answerOn('new.example.com')).toEqual(shared);
    expect(await answerOn('')).toEqual(shared);
    expect(await answerOn('old.example.com', {})).toEqual(shared);
  });

  it('is nothing where a deployment has the function check itself', async () => {
    const checked = makeHttpHandler<object, undefined>(makeTelemetry('token'), async () => undefined, {
      formerHost: 'old.example.com',
      formerHostSunset: sunset,
    });
    expect(await checked({}, {} as Context)).toBeUndefined();
  });
});
