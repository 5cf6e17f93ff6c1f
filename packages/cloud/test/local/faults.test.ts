import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StartError } from '../../src/local/errors.ts';
import { faultNames, readFaults } from '../../src/local/faults.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const file = join(temporaryDirectory(), 'faults.json');

const faults = (text: string) => {
  writeFileSync(file, text);
  const happened: string[] = [];
  return { ...readFaults(file, 1, fault => happened.push(fault)), happened };
};
const request = { service: 'sns', operation: 'Publish', input: {}, caller: 'Token' } as const;

describe('injected faults', () => {
  it.each([
    ['throttled', 'ThrottledException'],
    ['sns.failed', 'InternalServerError'],
    ['sqs.failed', undefined],
  ])('%s affect requests of functions to that service', (name, error) => {
    const { interceptor, happened } = faults(JSON.stringify({ [name]: 1 }));
    expect(interceptor(request)?.name).toBe(error);
    expect(interceptor({ ...request, caller: 'local' })).toBeUndefined();
    expect(happened).toEqual(error ? [name.includes('.') ? name : `sns.${name}`] : []);
  });

  it.each([
    ['copies', true, false],
    ['refusedEntries', false, true],
  ])('%s affect queues', (name, comesAgain, isEntryRefused) => {
    const { queueFaults, happened } = faults(JSON.stringify({ [name]: 1 }));
    expect([queueFaults.comesAgain(), queueFaults.isEntryRefused()]).toEqual([comesAgain, isEntryRefused]);
    expect(happened).toEqual([name]);
  });

  it('occur according to their share', () => {
    const { queueFaults } = faults('{"copies": 0.3}');
    const copies = Array.from({ length: 1_000 }, queueFaults.comesAgain).filter(Boolean).length;
    expect([copies > 250, copies < 350]).toEqual([true, true]);
  });

  it('follow their file; a malformed one has no effect', () => {
    const { comesAgain } = faults('{"copies": 1}').queueFaults;
    expect(comesAgain()).toBe(true);
    writeFileSync(file, '{"copies": ');
    expect(comesAgain()).toBe(true);
    writeFileSync(file, '{}');
    expect(comesAgain()).toBe(false);
  });

  it.each([
    ['', 'It is not JSON.'],
    ['[]', 'It must be one JSON object.'],
    ['{"copies": 2}', '"copies" must be a number from 0 to 1.'],
    ['{"copies": "1"}', '"copies" must be a number from 0 to 1.'],
    ['{"unknown": 1}', 'It names "unknown", which is not one of throttled, dynamodb.throttled,'],
  ])('of %j are rejected at the start, with the reason in one line', (text, reason) => {
    expect(() => faults(text)).toThrow(StartError);
    expect(() => faults(text)).toThrow(`The faults file ${file} cannot be used: ${reason}`);
    expect(() => faults(text)).not.toThrow(/\n/);
  });

  it('are all described in the README', () => {
    const page = readFileSync(join(import.meta.dirname, '../../src/local/README.md'), 'utf8');
    for (const name of faultNames) expect(page).toContain(`\`${name}\``);
  });
});
