import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { StoredCounts } from '../../../lab/cost/page.ts';
import { countQuickly, type QuickCounts } from '../../support/quick-counts.ts';

const stored: StoredCounts = JSON.parse(
  readFileSync(new URL('../../../lab/cost/counts.json', import.meta.url), 'utf8'),
);
let counts: QuickCounts;
beforeAll(async () => {
  counts = await countQuickly();
});

it('the counts of docs/cost.md are those of the code: otherwise run "npm run cost"', () => {
  expect(stored.store).toEqual(counts);
  const { login, refresh, quiet } = stored.actions;
  for (const [name, counted] of Object.entries({ login, refresh, firstAttempt: quiet })) {
    const { calls, read, write } = counts[name as keyof QuickCounts];
    expect([counted.storeCalls, counted.readUnits, counted.writeUnits], name).toEqual([calls, read, write]);
  }
});

describe('the calls to the store stay at', () => {
  it('four for a login, two for a refresh', () => {
    expect([counts.login.calls, counts.refresh.calls]).toEqual([4, 2]);
  });

  it('two for a first attempt alone, three for one that fails', () => {
    expect([counts.firstAttempt.calls, counts.failedAttempt.calls]).toEqual([2, 3]);
  });

  it('0.3 for a first attempt in a batch of ten, by the last run of "npm run cost"', () => {
    expect(stored.actions.busy.storeCalls).toBeLessThanOrEqual(0.3);
  });
});

// One item with all answers, written anew with each attempt, took 162. Three are the webhook's: it begins to fail, and is suspended.
describe('the write units of an exhausted delivery are at most', () => {
  it.each([
    ['exhaustedOneKibibyte', 61],
    ['exhaustedEmpty', 42],
  ] as const)('%s: %i', (name, units) => {
    expect(counts[name].write).toBeLessThanOrEqual(units);
  });
});
