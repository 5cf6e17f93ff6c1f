import { expect, it } from 'vitest';
import { describeFaultRun } from '../chaos/fault-report.ts';
import { runAmidFaults } from '../chaos/fault-run.ts';
import { shortRun } from '../chaos/fault-settings.ts';

/**
 * The share of events that may still wait when the run ends: for two minutes, since a process was killed between storing and
 * sending, or for one, since a key could not be opened. One failed request to KMS holds up every attempt that waited for it, so
 * their number depends on how busy the machine is.
 */
const mostWaiting = 0.5;

it('the short version of npm run chaos -- --faults accounts for every event', async () => {
  const report = await runAmidFaults(shortRun);
  const { text } = describeFaultRun(report);
  expect(report.findings, text).toEqual([]);
  const sum = (key: 'published' | 'waiting') => report.rows.reduce((total, row) => total + row[key], 0);
  expect(sum('published')).toBe(shortRun.events);
  expect(sum('waiting'), text).toBeLessThanOrEqual(mostWaiting * shortRun.events);
}, 300_000);
