import { describe, expect, it } from 'vitest';
import { runChaos } from '../chaos/chaos-run.ts';
import { describeChaos } from '../chaos/report.ts';
import { shortRun } from '../chaos/run-settings.ts';

/**
 * The share of events that may still wait when the run ends: for two minutes, since a process was killed between storing and
 * sending, or for one, since a key could not be opened. One failed request to KMS holds up every attempt that waited for it, so
 * their number depends on how busy the machine is.
 */
const mostWaiting = 0.5;

describe('the short version of npm run chaos', () => {
  it('accounts for every event while faults are injected', async () => {
    const report = await runChaos(shortRun);
    const text = describeChaos(report);
    expect(report.findings, text).toEqual([]);
    const sum = (key: 'published' | 'leftToSweeper' | 'delayed') =>
      report.rows.reduce((total, row) => total + row[key], 0);
    expect(sum('published')).toBe(shortRun.events);
    expect(sum('leftToSweeper') + sum('delayed'), text).toBeLessThanOrEqual(mostWaiting * shortRun.events);
    const { kills, counts } = report.injected;
    expect(kills).toBeGreaterThan(0);
    for (const fault of shortRun.faults.required) expect(counts[fault], fault).toBeGreaterThan(0);
  }, 300_000);
});
