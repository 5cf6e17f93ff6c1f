import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StartError } from '../../src/local/errors.ts';
import { faultKinds, makeFaultInterceptor, readFaultInjection } from '../../src/local/faults.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const file = join(temporaryDirectory(), 'faults.json');

const faults = (text: string, draw = 0.5) => {
  writeFileSync(file, text);
  const happened: string[] = [];
  const injection = readFaultInjection(
    file,
    () => draw,
    kind => happened.push(kind),
  );
  return { ...injection, intercept: makeFaultInterceptor(injection), happened };
};

describe('injected faults', () => {
  it.each([
    [0.4, false],
    [0.5, false],
    [0.6, true],
    [1, true],
  ])('of a share of %d happen accordingly', (share, expected) => {
    const { happens, happened } = faults(JSON.stringify({ refusedSends: share }));
    expect(happens('refusedSends')).toBe(expected);
    expect(happens('repeatedBatches')).toBe(false);
    expect(happened).toEqual(expected ? ['refusedSends'] : []);
  });

  it.each([
    ['throttledReadsAndWrites', 'dynamodb', 'PutItem', 'ProvisionedThroughputExceededException', 400],
    ['refusedSends', 'sqs', 'SendMessageBatch', 'RequestThrottled', 400],
    ['throttledKeyUses', 'kms', 'Decrypt', 'ThrottlingException', 400],
    ['failedKeyUses', 'kms', 'Decrypt', 'KMSInternalException', 500],
    ['failedNotifications', 'sns', 'Publish', 'InternalError', 500],
  ] as const)('%s: concern requests of functions to one service only', (kind, service, operation, code, status) => {
    const { intercept, happened } = faults(JSON.stringify({ [kind]: 1 }));
    const input = {};
    expect(intercept({ service, operation, input, caller: 'Token' })).toMatchObject({ code, status });
    expect(happened).toEqual([kind]);
    expect(intercept({ service, operation, input, caller: 'local' })).toBeUndefined();
    for (const other of ['dynamodb', 'sqs', 'sns', 'kms', 'logs'] as const) {
      if (other !== service) expect(intercept({ service: other, operation, input, caller: 'Token' })).toBeUndefined();
    }
    expect(happened).toEqual([kind]);
  });

  it('do not concern messages that are received', () => {
    const { intercept } = faults('{"refusedSends": 1}');
    expect(intercept({ service: 'sqs', operation: 'ReceiveMessage', input: {}, caller: 'Token' })).toBeUndefined();
  });

  it('follow their file; a malformed one changes nothing', () => {
    const { happens } = faults('{"refusedSends": 1}');
    expect(happens('refusedSends')).toBe(true);
    writeFileSync(file, '{"refusedSends": ');
    expect(happens('refusedSends')).toBe(true);
    writeFileSync(file, '{}');
    expect(happens('refusedSends')).toBe(false);
  });

  it.each([
    ['', 'It is not JSON.'],
    ['[]', 'It must be one JSON object of shares.'],
    ['{"refusedSends": 2}', '"refusedSends" must be a number from 0 to 1.'],
    ['{"refusedSends": "1"}', '"refusedSends" must be a number from 0 to 1.'],
    ['{"unknown": 1}', 'It names "unknown", which is none of throttledReadsAndWrites, refusedSends,'],
  ])('of %j are refused at the start, in one line that says why', (text, reason) => {
    expect(() => faults(text)).toThrow(StartError);
    expect(() => faults(text)).toThrow(`The faults file ${file} cannot be used: ${reason}`);
    expect(() => faults(text)).not.toThrow(/\n/);
  });

  it('are all described in the README', () => {
    const page = readFileSync(join(import.meta.dirname, '../../src/local/README.md'), 'utf8');
    for (const name of faultKinds) expect(page).toContain(`| \`${name}\` |`);
  });
});
