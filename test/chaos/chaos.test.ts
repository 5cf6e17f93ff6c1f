import { expect, it } from 'vitest';
import { runChaos } from './chaos-run.ts';
import { shortPlan } from './plans.ts';
import { describeChaos } from './report.ts';

/** So much may be left to the sweeper, which comes after two minutes: what was killed between storing and sending. */
const leftToSweeper = 20;

it('in a storm every event is accounted for (the short version of npm run chaos)', async () => {
  const report = await runChaos(shortPlan);
  expect(report.findings, describeChaos(report)).toEqual([]);
  const sum = (key: 'published' | 'leftToSweeper') => report.rows.reduce((total, row) => total + row[key], 0);
  expect(sum('published')).toBe(shortPlan.events);
  expect(sum('leftToSweeper')).toBeLessThanOrEqual(leftToSweeper);
  expect(report.damage.kills).toBeGreaterThan(0);
  expect(report.damage.strikes.repeatedBatches).toBeGreaterThan(0);
}, 150_000);
