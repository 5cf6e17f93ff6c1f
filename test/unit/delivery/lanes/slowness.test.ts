import { describe, expect, it } from 'vitest';
import {
  isSlow,
  mayRecover,
  recovered,
  type Slowness,
  unknownSlowness,
  withSlowAttempts,
} from '../../../../lambdas/delivery/lanes/slowness.ts';
import { makeStage } from '../../../support/stage.ts';
import { aResponse, noon } from '../builders.ts';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

/** Records slow attempts, each with the quick attempts before it, at these times in milliseconds after noon. */
const recording = (...recorded: readonly [at: number, slow: number, quick: number][]): Slowness =>
  recorded.reduce((state, [at, slow, quick]) => withSlowAttempts(state, { slow, quick }, noon + at), unknownSlowness);

it.each<[string, boolean, Slowness]>([
  ['one slow attempt', false, recording([0, 1, 0])],
  ['two within 60 s', true, recording([0, 1, 0], [minute - 1, 1, 0])],
  ['two 60 s apart', false, recording([0, 1, 0], [minute, 1, 0])],
  ['a tenth of 20', true, recording([0, 1, 9], [second, 1, 9])],
  ['less than a tenth', false, recording([0, 1, 9], [second, 1, 10])],
  ['a tenth of 300 in several records', true, recording([0, 10, 90], [20 * second, 10, 90], [59 * second, 10, 90])],
  ['29 slow attempts of 291', false, recording([0, 29, 262])],
  ['two after quick attempts more than 60 s ago', true, recording([0, 1, 1_000], [minute, 1, 0], [minute + 1, 1, 0])],
])('a webhook with %s is slow: %s', (_, expected, slowness) => {
  expect(isSlow(slowness)).toBe(expected);
});

describe('a slow webhook', () => {
  const slow = recording([0, 2, 0]);

  it.each([
    ['before 60 s', slow, minute - 1, false],
    ['after 60 s', slow, minute, true],
    ['60 s after its share was reached', recording([0, 2, 0], [second, 2, 0]), minute, false],
    ['after 60 s with slow attempts below their share', recording([0, 2, 0], [second, 1, 99]), minute, true],
  ])('may become quick again %s: %s', (_, slowness, at, expected) => {
    expect(mayRecover(slowness, noon + at)).toBe(expected);
  });

  it('loses its tallies when it becomes quick again, and one slow attempt does not make it slow', () => {
    const quick = recovered(slow, noon + minute - 1);
    expect(mayRecover(quick, noon + day)).toBe(false);
    expect(isSlow(withSlowAttempts(quick, { slow: 1, quick: 0 }, noon + minute - 1))).toBe(false);
  });

  it('retains the time at which it became slow', () => {
    const again = withSlowAttempts(slow, { slow: 2, quick: 0 }, noon + minute);
    expect(again).toMatchObject({ slowSince: noon, reachedAt: noon + minute });
  });

  it('remains slow for twice as long with each relapse within a day, up to an hour', () => {
    let [slowness, now] = [slow, noon];
    const holds: number[] = [];
    for (let relapse = 0; relapse < 8; relapse++) {
      const { hold = 0 } = slowness;
      holds.push(hold / minute);
      now += hold;
      expect([mayRecover(slowness, now - 1), mayRecover(slowness, now)]).toEqual([false, true]);
      slowness = recovered(slowness, now);
      now += day - 1;
      slowness = withSlowAttempts(slowness, { slow: 2, quick: 0 }, now);
    }
    expect(holds).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect(withSlowAttempts(recovered(slowness, now), { slow: 2, quick: 0 }, now + day).hold).toBe(minute);
  });
});

// Callers pass a whole webhook as the owner.
it('the stored slowness contains no URL, credential or secret of the webhook', async () => {
  const stage = makeStage();
  await stage.register();
  stage.answers.push({ ...aResponse(200), takesMs: 3_000 }, { ...aResponse(200), takesMs: 3_000 });
  for (let event = 0; event < 2; event++) stage.publishEvent();
  await stage.pass(5_000);
  const stored = stage.items().find(({ id }) => String(id).startsWith('slowness#'));
  const names = ['id', 'part', 'accountId', 'eventName', 'tallies', 'version', 'slowSince', 'reachedAt', 'hold', 'ttl'];
  expect(Object.keys(stored ?? {}).toSorted()).toEqual(names.toSorted());
});
