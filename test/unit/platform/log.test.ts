import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { describeAttempt, describeDelivery } from '../../../lambdas/delivery/telemetry.ts';
import { makeLog } from '../../../lambdas/platform/log.ts';
import { logNames } from '../../../lambdas/platform/log-names.ts';
import { describeError, makeTelemetry } from '../../../lambdas/platform/telemetry.ts';
import { savedQueries } from '../../../lib/saved-queries.ts';
import { frozenClock } from '../../support/clock.ts';
import { inlineCode, readPage } from '../../support/markdown-page.ts';
import { aDelivery, aRecord } from '../delivery/builders.ts';

const requestId = 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef';
const root = '1-5759e988-bd862e3fe1be46a994272793';
const { now } = frozenClock();
let written: string[];

beforeEach(() => {
  written = [];
  vi.spyOn(process.stdout, 'write').mockImplementation(text => Boolean(written.push(String(text))));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const lines = () => written.map(text => JSON.parse(text));

/** The log line of an attempt that was delivered. */
const logDelivered = () => {
  const { log, beginInvocation } = makeLog('deliver-first', now);
  beginInvocation({ awsRequestId: requestId });
  log.info('delivery.attempt', {
    ...describeDelivery(aDelivery({ messageId: requestId, accountId: 'acme', eventName: 'proposta.recebida' })),
    ...describeAttempt(aRecord({ result: 'delivered', status: 200, durationMs: 123 })),
    host: 'receiver.example.com',
    state: 'delivered',
  });
};

describe('a line of the log', () => {
  it('is one JSON object with level, name, time, function and the fields', () => {
    makeLog('token', now).log.info('token.granted', { grant: 'password', attempt: 1, list: ['a', 'b'] });
    expect(written).toEqual([
      '{"level":"INFO","message":"token.granted","timestamp":"2026-11-20T12:00:00.000Z","service":"token",' +
        '"grant":"password","attempt":1,"list":["a","b"]}\n',
    ]);
  });

  it('of a request tells the id that its answer has, and one of another event none', () => {
    const { log, beginInvocation } = makeLog('webhooks', now);
    beginInvocation({ awsRequestId: requestId }, 'AbCdEfGhIjKlMnO=');
    log.info('webhook.answered');
    log.warn('webhook.refused');
    beginInvocation({ awsRequestId: requestId });
    log.info('keys.rotated');
    expect(lines().map(line => line.requestId)).toEqual(['AbCdEfGhIjKlMnO=', 'AbCdEfGhIjKlMnO=', undefined]);
  });

  it('of a delivered event has at most 375 bytes, and nothing that its log group tells', () => {
    logDelivered();
    expect(Buffer.byteLength(written[0] ?? '')).toBeLessThanOrEqual(375);
    const names = Object.keys(lines()[0]);
    for (const name of ['function_arn', 'function_name', 'function_memory_size', 'sampling_rate', 'cold_start'])
      expect(names).not.toContain(name);
  });

  it('has the fields that the saved queries read', () => {
    logDelivered();
    const log = makeLog('x', now).log;
    log.error('request.failed', describeError(new RangeError('x')));
    const told = new Set(lines().flatMap(line => Object.keys(line)));
    for (const name of ['level', 'message', 'service', 'errorName', 'at', 'deliveryId', 'attempt', 'result', 'status'])
      expect(told).toContain(name);
    for (const field of savedQueries.delivery['one event']?.fields ?? [])
      if (!['@timestamp', 'cause', 'errorCode', 'nextAttemptAt'].includes(field)) expect(told).toContain(field);
  });

  it('leaves out what is empty', () => {
    makeLog('x', now).log.info('keys.rotated', { none: undefined, nothing: null, empty: '', zero: 0, no: false });
    expect(Object.keys(lines()[0]).slice(4)).toEqual(['zero', 'no']);
  });

  it('keeps its own level, name, time and function, whatever its fields are called', () => {
    makeLog('x', now).log.warn('keys.rotated', {
      level: 'INFO',
      message: 'c.d',
      timestamp: 'never',
      service: 'y',
      constructor: 'z',
    });
    expect(lines()).toMatchObject([{ level: 'WARN', message: 'keys.rotated', service: 'x', constructor: 'z' }]);
  });

  it('stays one line, whatever its fields hold', () => {
    makeLog('x', now).log.info('keys.rotated', { detail: 'one\ntwo\u2028three\r' });
    expect(written[0]?.split('\n')).toHaveLength(2);
    expect(lines()[0].detail).toBe('one\ntwo\u2028three\r');
  });

  it('tells what happened even where its fields cannot be written', () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const { log } = makeLog('x', now);
    for (const bad of [circle, { big: 1n }]) log.error('keys.rotated', { bad } as never);
    expect(lines()).toMatchObject(Array(2).fill({ level: 'ERROR', message: 'keys.rotated', errorName: 'NotLoggable' }));
  });
});

describe('the invocation of a line', () => {
  it('is named where something failed', () => {
    const { log, beginInvocation } = makeLog('x', now);
    for (const awsRequestId of ['one', 'two']) {
      beginInvocation({ awsRequestId });
      log.info('keys.rotated');
      log.warn('keys.rotated');
      log.error('keys.rotated');
    }
    const ids = lines().map(line => line.function_request_id);
    expect(ids).toEqual([undefined, 'one', 'one', undefined, 'two', 'two']);
  });

  it.each([
    ['that is recorded', `Root=${root};Parent=53995c3f42cd8ad8;Sampled=1;Lineage=1:a:0`, root],
    ['that is not', `Root=${root};Parent=53995c3f42cd8ad8;Sampled=0`, undefined],
    ['that nobody made', '', undefined],
  ])('has a trace %s', (_case, header, expected) => {
    vi.stubEnv('_X_AMZN_TRACE_ID', header);
    const { log, beginInvocation } = makeLog('x', now);
    beginInvocation({ awsRequestId: 'one' });
    log.info('keys.rotated');
    expect(lines()[0].xray_trace_id).toBe(expected);
  });
});

describe('the level of a log', () => {
  it.each([
    [undefined, ['INFO', 'WARN', 'ERROR']],
    ['INFO', ['INFO', 'WARN', 'ERROR']],
    ['WARN', ['WARN', 'ERROR']],
    ['ERROR', ['ERROR']],
    ['LOUD', ['INFO', 'WARN', 'ERROR']],
  ])('%s lets pass %j', (level, expected) => {
    vi.stubEnv('LOG_LEVEL', level);
    const { log } = makeLog('x', now);
    log.info('keys.rotated');
    log.warn('keys.rotated');
    log.error('keys.rotated');
    expect(lines().map(line => line.level)).toEqual(expected);
  });
});

describe('an error in a line', () => {
  it('keeps name, stack and cause, and no message of either', () => {
    const canary = 'canary-7f3a';
    const error = new TypeError(canary, { cause: new RangeError(canary, { cause: canary }) });
    const { log } = makeTelemetry('x');
    log.error('request.failed', { ...describeError(error) });
    expect(lines()).toMatchObject([
      {
        errorName: 'TypeError',
        at: expect.arrayContaining([expect.stringContaining('log.test.ts')]),
        cause: { errorName: 'RangeError', at: expect.arrayContaining([expect.stringContaining('log.test.ts')]) },
      },
    ]);
    expect(written.join()).not.toContain(canary);
  });

  it('ends a chain of causes that leads back to its beginning', () => {
    const error: Error & { cause?: unknown } = new Error('x');
    error.cause = error;
    makeLog('x', now).log.error('keys.rotated', describeError(error));
    expect(lines()[0].cause.cause).not.toHaveProperty('cause');
  });
});

it('the page of log lines lists the names of all, and no others', () => {
  const rows = readPage('docs/logs.md').tables.flatMap(table => table.rows);
  const listed = rows.flatMap(([names = '', level = '']) =>
    /^(?:INFO|WARN|ERROR)/.test(level) ? inlineCode(names) : [],
  );
  const names = Object.entries(logNames).flatMap(([area, events]) => events.map(event => `${area}.${event}`));
  expect(listed.toSorted()).toEqual(names.toSorted());
});
