import { describe, expect, it } from 'vitest';
import { never, type SituationResult } from '../../chaos/isolation.ts';
import { describeIsolation, judgeIsolation } from '../../chaos/isolation-report.ts';
import { isolationRun } from '../../chaos/run-settings.ts';

/** First attempts of one situation. */
const { healthy, rate, length, longestExtra } = isolationRun;
const perSecond = healthy * rate;
const events = (perSecond * length) / 1_000;

const waits = (late: readonly number[] = []): number[] => [...new Array(events - late.length).fill(20), ...late];

/** The events of a standstill: those that are published in it come when it is over. */
const standstill = (lasts: number): number[] =>
  Array.from({ length: Math.floor((perSecond * lasts) / 1_000) }, (_, index) => lasts - (index * 1_000) / perSecond);

const quiet: SituationResult = {
  ...{ round: 1, order: 'fair', situation: 'alone', isFirst: false },
  ...{ first: waits(), retries: waits(), attempts: 0, busy: 0.2, others: 0.02 },
};

/** Three runs: each alone, and beside an attack. */
const measured = (...beside: readonly Partial<SituationResult>[]): SituationResult[] =>
  beside.flatMap((change, index) => [
    { ...quiet, round: index + 1 },
    { ...quiet, round: index + 1, situation: 'attack', ...change },
  ]);

const isHeld = (results: readonly SituationResult[]) => describeIsolation(results, isolationRun).isHeld;

describe('isolation', () => {
  it('is held where others come no later beside an attack than alone', () => {
    expect(isHeld(measured({}, {}, {}))).toBe(true);
  });

  it.each<[string, Partial<SituationResult>]>([
    ['everybody stands still for 1.8 s, which 180 s would hide', { first: waits(standstill(1_800)) }],
    ['two of 104 first attempts are late', { first: waits([1_100, 1_100]) }],
    ['two of 104 retries are late', { retries: waits([1_100, 1_100]) }],
    ['no first attempt was measured', { first: [] }],
    ['no retry was measured', { retries: [] }],
  ])('is not held where in two of three runs %s', (_, late) => {
    expect(isHeld(measured(late, {}, late))).toBe(false);
    expect(isHeld(measured({}, late, {}))).toBe(true);
  });

  it('is not held where nothing was measured alone', () => {
    const results = measured({}, {}, {});
    expect(isHeld(results.map(result => (result.situation === 'alone' ? { ...result, first: [] } : result)))).toBe(
      false,
    );
    expect(isHeld(results.filter(({ situation }) => situation !== 'alone'))).toBe(false);
  });

  it.each<[string, Partial<SituationResult>]>([
    ['first attempt', { first: waits([never]) }],
    ['retry', { retries: waits([never]) }],
  ])('is not held where a single %s never came in a single run', (_, missing) => {
    expect(isHeld(measured(missing, {}, {}))).toBe(false);
  });

  it('is measured against the same run alone, in the same order of the queues', () => {
    const late = { first: waits([1_500, 1_500]) };
    const slowMachine = measured(late, late, late).map(result => ({ ...result, ...late }));
    expect(isHeld(slowMachine)).toBe(true);
    const arrival = measured(late, late, late).map(result => ({ ...result, order: 'arrival' as const }));
    const judged = judgeIsolation([...slowMachine, ...arrival], longestExtra);
    expect(judged.map(({ order, situation, isTooLate }) => [order, situation, isTooLate])).toEqual([
      ['fair', 'alone', false],
      ['fair', 'attack', false],
      ['arrival', 'alone', false],
      ['arrival', 'attack', true],
    ]);
  });

  it('is told by the median, the worst run, and the run that began with the attack', () => {
    const lateBy = (extra: number) => ({ first: waits([20 + extra, 20 + extra]) });
    const results = measured(lateBy(300), { ...lateBy(900), isFirst: true }, lateBy(100));
    const [, attack] = judgeIsolation(results, longestExtra);
    expect(attack).toMatchObject({
      first: { median: 300, worst: 900 },
      retries: { median: 0, worst: 0 },
      whenFirst: { first: 900, retries: 0 },
      missing: 0,
    });
    expect(describeIsolation(results, isolationRun).text).toMatch(/\| attack, fair \| 20 \| 320 \| 300 \(900\) \|/);
  });

  it.each([
    [[0.3, 0.02, 0.3], false],
    [[0.3, 0.02, 0.02], true],
  ])('cannot be told where other programs took %j of the processors: %s', (others, held) => {
    const results = measured(...others.map(share => ({ others: share })));
    expect(isHeld(results)).toBe(held);
    expect(describeIsolation(results, isolationRun).text.includes('TOO BUSY')).toBe(!held);
  });

  it('cannot be told on a machine that the measured events fill without any attack', () => {
    expect(isHeld(measured({}, {}, {}).map(result => ({ ...result, busy: 0.9 })))).toBe(false);
    expect(isHeld(measured({ busy: 1 }, { busy: 1 }, { busy: 1 }))).toBe(true);
  });
});
