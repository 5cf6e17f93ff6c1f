import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { describeAttempt, describeDelivery } from '../../../lambdas/delivery/telemetry.ts';
import { makeLog } from '../../../lambdas/platform/log.ts';
import { logNames } from '../../../lambdas/platform/log-names.ts';
import { describeError } from '../../../lambdas/platform/telemetry.ts';
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

const logDelivered = () => {
  const { log, startInvocation } = makeLog('deliver-first', now);
  startInvocation({ awsRequestId: requestId });
  log.info('delivery.attempt', {
    ...describeDelivery(aDelivery({ messageId: requestId, accountId: 'acme', eventName: 'proposta.recebida' })),
    ...describeAttempt(aRecord({ result: 'delivered', status: 200, durationMs: 123 })),
    host: 'receiver.example.com',
    state: 'delivered',
  });
};

describe('a log line', () => {
  it('is a JSON object without empty fields, and its fields cannot replace the level, name, time and function', () => {
    const empty = { none: undefined, nothing: null, empty: '' };
    const reserved = { level: 'INFO', message: 'c.d', timestamp: 'never', service: 'y', constructor: 'z' };
    makeLog('token', now).log.warn('token.granted', { ...empty, ...reserved, zero: 0, no: false, list: ['a\n\u2028'] });
    expect(written).toEqual([
      '{"level":"WARN","message":"token.granted","timestamp":"2026-11-20T12:00:00.000Z","service":"token",' +
        '"constructor":"z","zero":0,"no":false,"list":["a\\n\u2028"]}\n',
    ]);
  });

  it('of a delivered event has at most 375 bytes, and no field that its log group contains', () => {
    logDelivered();
    expect(Buffer.byteLength(written[0] ?? '')).toBeLessThanOrEqual(375);
    const names = Object.keys(lines()[0]);
    for (const name of ['function_arn', 'function_name', 'function_memory_size', 'sampling_rate', 'cold_start'])
      expect(names).not.toContain(name);
  });

  it('contains the fields that the saved queries use', () => {
    logDelivered();
    makeLog('x', now).log.error('request.failed', describeError(new RangeError('x')));
    const fields = savedQueries.delivery['one event']?.fields ?? [];
    const optional = ['@timestamp', 'cause', 'errorCode', 'nextAttemptAt'];
    expect(lines().flatMap(line => Object.keys(line))).toEqual(
      expect.arrayContaining(['errorName', 'at', ...fields.filter(field => !optional.includes(field))]),
    );
  });

  it('contains its name even if JSON cannot represent its fields', () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    for (const bad of [circle, { big: 1n }]) makeLog('x', now).log.error('keys.rotated', { bad } as never);
    expect(lines()).toMatchObject(Array(2).fill({ level: 'ERROR', message: 'keys.rotated', errorName: 'NotLoggable' }));
  });

  it('contains the request id of the response, and for a failure the invocation id', () => {
    const { log, startInvocation } = makeLog('webhooks', now);
    startInvocation({ awsRequestId: 'one' }, 'AbCdEfGhIjKlMnO=');
    log.info('api.request');
    log.warn('api.refused');
    startInvocation({ awsRequestId: 'two' });
    log.info('keys.rotated');
    log.error('keys.rotated');
    expect(lines().map(line => [line.requestId, line.function_request_id])).toEqual([
      ['AbCdEfGhIjKlMnO=', undefined],
      ['AbCdEfGhIjKlMnO=', 'one'],
      [undefined, undefined],
      [undefined, 'two'],
    ]);
  });

  it.each([
    [`Root=${root};Parent=53995c3f42cd8ad8;Sampled=1;Lineage=1:a:0`, root],
    [`Root=${root};Parent=53995c3f42cd8ad8;Sampled=0`, undefined],
    ['', undefined],
  ])('contains the trace of its invocation if the trace is sampled: %j', (header, expected) => {
    vi.stubEnv('_X_AMZN_TRACE_ID', header);
    const { log, startInvocation } = makeLog('x', now);
    startInvocation({ awsRequestId: 'one' });
    log.info('keys.rotated');
    expect(lines()[0].xray_trace_id).toBe(expected);
  });

  it.each([
    [undefined, ['INFO', 'WARN', 'ERROR']],
    ['INFO', ['INFO', 'WARN', 'ERROR']],
    ['WARN', ['WARN', 'ERROR']],
    ['ERROR', ['ERROR']],
    ['LOUD', ['INFO', 'WARN', 'ERROR']],
  ])('is written with LOG_LEVEL %s for the levels %j', (level, expected) => {
    vi.stubEnv('LOG_LEVEL', level);
    const { log } = makeLog('x', now);
    for (const write of [log.info, log.warn, log.error]) write('keys.rotated');
    expect(lines().map(line => line.level)).toEqual(expected);
  });
});

it('docs/logs.md lists exactly the names of all log lines', () => {
  const rows = readPage('docs/logs.md').tables.flatMap(table => table.rows);
  const listed = rows.flatMap(([names = '', level = '']) =>
    /^(?:INFO|WARN|ERROR)/.test(level) ? inlineCode(names) : [],
  );
  const names = Object.entries(logNames).flatMap(([area, events]) => events.map(event => `${area}.${event}`));
  expect(listed.toSorted()).toEqual(names.toSorted());
});
