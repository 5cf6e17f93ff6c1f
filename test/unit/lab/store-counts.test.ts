import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Action, actions, type Measured } from '../../../lab/cost/counts.ts';
import { countQuickly, type QuickCounts } from '../../../lab/cost/quick-counts.ts';

const stored: Measured = JSON.parse(readFileSync(new URL('../../../lab/cost/counts.json', import.meta.url), 'utf8'));
let counts: QuickCounts;
beforeAll(async () => {
  counts = await countQuickly();
});

const { actions: ofActions, sweep } = stored;
it.each([...actions, 'sweep'] as const)(
  'the counts of docs/cost.md are those of the code: %s; otherwise run "npm run cost"',
  action => {
    expect({ ...ofActions, sweep }[action]).toMatchObject(counts[action]);
  },
);

describe('the calls to the store stay at', () => {
  const calls = [
    ['login', 4],
    ['refresh', 2],
    ['registration', 3],
    ['quiet', 2],
    ['failedAttempt', 3],
  ] as const;
  it.each(calls)('%s: %i', (name, number) => {
    expect(counts[name].storeCalls).toBe(number);
  });

  it('two for a batch of ten whose answers come together', () => {
    expect(counts.busy.storeCalls).toBeCloseTo(0.2, 9);
  });
});

// One item with all answers, written anew with each attempt, took 162. Three are the webhook's: it begins to fail, and is suspended.
describe('the write units of an exhausted delivery are at most', () => {
  const most: readonly (readonly [Action, number])[] = [
    ['exhausted', 61],
    ['exhaustedEmpty', 42],
  ];
  it.each(most)('%s: %i', (name, units) => {
    expect(counts[name].writeUnits).toBeLessThanOrEqual(units);
  });
});
