import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LocalFault } from '../../../local/fault.ts';
import { faultsOf, noFaults } from '../../../local/faults.ts';

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

  it.each(['', '[]', '{"refusedSends": 2}', '{"unknown": 1}'])('of %j are refused at the start', text => {
    expect(() => faults(text)).toThrow(LocalFault);
  });

  it('are none where nothing says so', () => {
    expect(noFaults.strikes('refusedSends')).toBe(false);
    expect(noFaults.strikesRequest('refusedSends', signedBy('Emissor'))).toBe(false);
  });
});
