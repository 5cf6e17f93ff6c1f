import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { LocalFault } from '../../../local/fault.ts';
import { faultKinds, faultsOf, noFaults, watchFaults } from '../../../local/faults.ts';

const directory = mkdtempSync(join(tmpdir(), 'emissor-faults-'));
const file = join(directory, 'faults.json');
afterAll(() => rmSync(directory, { recursive: true }));

const faults = (text: string, draw = 0.5) => {
  writeFileSync(file, text);
  const struck: string[] = [];
  return {
    ...faultsOf(
      file,
      () => draw,
      kind => struck.push(kind),
    ),
    struck,
  };
};

const signedBy = (key: string) => ({ authorization: `AWS4-HMAC-SHA256 Credential=${key}/20260101/us-east-1/sqs/…` });

describe('faults', () => {
  it.each([
    [0.4, false],
    [0.5, false],
    [0.6, true],
    [1, true],
  ])('of a share of %d strike accordingly', (share, expected) => {
    const { strikes, struck } = faults(JSON.stringify({ refusedSends: share }));
    expect(strikes('refusedSends')).toBe(expected);
    expect(strikes('repeatedBatches')).toBe(false);
    expect(struck).toEqual(expected ? ['refusedSends'] : []);
  });

  it('befall functions only, never the run itself or the operator', () => {
    const { strikesRequest } = faults('{"throttledReadsAndWrites": 1}');
    expect(strikesRequest('throttledReadsAndWrites', signedBy('Emissor-local-Delivery-Deliver0'))).toBe(true);
    expect(strikesRequest('throttledReadsAndWrites', signedBy('local'))).toBe(false);
  });

  it('change with their file; a malformed one leaves them as they were', () => {
    const { strikes } = faults('{"refusedSends": 1}');
    expect(strikes('refusedSends')).toBe(true);
    writeFileSync(file, '{"refusedSends": ');
    expect(strikes('refusedSends')).toBe(true);
    writeFileSync(file, '{}');
    expect(strikes('refusedSends')).toBe(false);
  });

  it.each([
    ['', 'It is not JSON.'],
    ['[]', 'It must be one JSON object of shares.'],
    ['{"refusedSends": 2}', '"refusedSends" must be a number from 0 to 1.'],
    ['{"refusedSends": "1"}', '"refusedSends" must be a number from 0 to 1.'],
    ['{"unknown": 1}', 'It names "unknown", which is none of throttledReadsAndWrites, refusedSends,'],
  ])('of %j are refused at the start, in one line that says why', (text, reason) => {
    expect(() => faults(text)).toThrow(LocalFault);
    expect(() => faults(text)).toThrow(`The faults file ${file} cannot be used: ${reason}`);
    expect(() => faults(text)).not.toThrow(/\n/);
  });

  it('whose file is changed badly are told of: it was silent', async () => {
    writeFileSync(file, '{}');
    const told: (string | undefined)[] = [];
    const unwatch = watchFaults(file, fault => told.push(fault));
    // Written until it is seen: the watch may take its first look after a change.
    const until = (content: string, expected: string | undefined) =>
      vi.waitFor(
        () => {
          writeFileSync(file, content);
          expect([told.length > 0, told.at(-1)]).toEqual([true, expected]);
        },
        { timeout: 20_000, interval: 1_200 },
      );
    await until('{"refusedSends": 7}', '"refusedSends" must be a number from 0 to 1.');
    await until('{"refusedSends": 0.25}', undefined);
    unwatch();
  });

  it('are all told of, by name, in the page of the local run', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../local/README.md'), 'utf8');
    for (const name of faultKinds) expect(page).toContain(`| \`${name}\` |`);
  });

  it('are none where nothing says so', () => {
    expect(noFaults.strikes('refusedSends')).toBe(false);
    expect(noFaults.strikesRequest('refusedSends', signedBy('Emissor'))).toBe(false);
  });
});
