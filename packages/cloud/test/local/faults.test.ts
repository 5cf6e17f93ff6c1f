import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StartError } from '../../src/local/errors.ts';
import { faultNames, readFaults } from '../../src/local/faults.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const file = join(temporaryDirectory(), 'faults.json');

const faults = (text: string) => {
  writeFileSync(file, text);
  const injected: string[] = [];
  return { ...readFaults(file, 1, fault => injected.push(fault)), injected };
};
const request = { service: 'sns', operation: 'Publish', input: {}, caller: 'Token' } as const;

describe('injected faults', () => {
  it.each([
    ['throttled', 'ThrottledException'],
    ['sns.failed', 'InternalServerError'],
    ['sqs.failed', undefined],
  ])('affect only requests from functions to the service: %s', (name, error) => {
    const { interceptor, injected } = faults(JSON.stringify({ [name]: 1 }));
    expect(interceptor(request)?.name).toBe(error);
    expect(interceptor({ ...request, caller: 'local' })).toBeUndefined();
    expect(injected).toEqual(error ? [name.includes('.') ? name : `sns.${name}`] : []);
  });

  it.each([
    ['copies', true, false],
    ['refusedEntries', false, true],
  ])('affect queues: %s', (name, isRedelivered, isEntryRejected) => {
    const { queueFaults, injected } = faults(JSON.stringify({ [name]: 1 }));
    expect([queueFaults.isRedelivered(), queueFaults.isEntryRejected()]).toEqual([isRedelivered, isEntryRejected]);
    expect(injected).toEqual([name]);
  });

  it('occur with the probability of their share', () => {
    const { queueFaults } = faults('{"copies": 0.3}');
    const copies = Array.from({ length: 1_000 }, queueFaults.isRedelivered).filter(Boolean).length;
    expect([copies > 250, copies < 350]).toEqual([true, true]);
  });

  it('follow changes to the file, except malformed ones', () => {
    const { isRedelivered } = faults('{"copies": 1}').queueFaults;
    expect(isRedelivered()).toBe(true);
    writeFileSync(file, '{"copies": ');
    expect(isRedelivered()).toBe(true);
    writeFileSync(file, '{}');
    expect(isRedelivered()).toBe(false);
  });

  it.each([
    ['', 'It is not JSON.'],
    ['[]', 'It must be one JSON object.'],
    ['{"copies": 2}', '"copies" must be a number from 0 to 1.'],
    ['{"copies": "1"}', '"copies" must be a number from 0 to 1.'],
    ['{"unknown": 1}', 'It contains "unknown", which is not one of throttled, dynamodb.throttled,'],
  ])('are rejected at the start if the file contains %j, with a one-line error', (text, reason) => {
    expect(() => faults(text)).toThrow(StartError);
    expect(() => faults(text)).toThrow(`Could not use the faults file ${file}: ${reason}`);
    expect(() => faults(text)).not.toThrow(/\n/);
  });

  it('are listed in the README', () => {
    const page = readFileSync(join(import.meta.dirname, '../../src/local/README.md'), 'utf8');
    for (const name of faultNames) expect(page).toContain(`\`${name}\``);
  });
});
