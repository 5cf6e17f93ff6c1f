import { describe, expect, it } from 'vitest';
import { runChaos } from '../../tools/chaos/chaos-run.ts';
import { checkIsolation } from '../../tools/chaos/isolation-check.ts';
import { shortPlan } from '../../tools/chaos/plans.ts';
import { describeChaos } from '../../tools/chaos/report.ts';

/** So much may be left to the sweeper, which comes after two minutes: what was killed between storing and sending. */
const leftToSweeper = 20;

/** So much may wait a minute for keys that could not be opened. */
const waitingOut = 40;

/** Each has a local run of its own. */
describe.concurrent('the short version of npm run chaos', () => {
  it('in a storm every event is accounted for', async () => {
    const report = await runChaos(shortPlan);
    expect(report.findings, describeChaos(report)).toEqual([]);
    const sum = (key: 'published' | 'leftToSweeper' | 'waitingOut') =>
      report.rows.reduce((total, row) => total + row[key], 0);
    expect(sum('published')).toBe(shortPlan.events);
    expect(sum('leftToSweeper')).toBeLessThanOrEqual(leftToSweeper);
    expect(sum('waitingOut')).toBeLessThanOrEqual(waitingOut);
    const { kills, strikes } = report.damage;
    expect(kills).toBeGreaterThan(0);
    for (const kind of shortPlan.storm.mustStrike) expect(strikes[kind], kind).toBeGreaterThan(0);
  }, 300_000);

  it('no attempt waits for a receiver that is known to hang', async () => {
    const { arrivedMeanwhile, wanted } = await checkIsolation();
    expect(arrivedMeanwhile).toBe(wanted);
  }, 120_000);
});
