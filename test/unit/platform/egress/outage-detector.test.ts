import { describe, expect, it } from 'vitest';
import { makeOutageDetector } from '../../../../lambdas/platform/egress/outage-detector.ts';
import { frozenClock } from '../../../support/clock.ts';

const record = () => {
  const clock = frozenClock();
  const outageDetector = makeOutageDetector(clock);
  /** Records a failure for each account and network, such as `a1`. Returns the verdict on each in turn. */
  const verdicts = (failures: string): boolean[] =>
    failures.split(' ').map(([account = '', network]) => {
      outageDetector.unreachable(account, `93.184.${network}.34`);
      return outageDetector.isOutage(account);
    });
  return { clock, outageDetector, verdicts };
};

describe('an unreachable address', () => {
  it.each<[string, boolean[]]>([
    ['a1', [false]],
    ['a1 a2 a3 a4 a5', [false, false, false, false, false]],
    ['a1 b2 a1 b2', [false, false, false, false]],
    ['a1 b2 c3', [false, false, true]],
    ['a1 b2 c3 a4', [false, false, true, true]],
    ['a1 a2 b3 c4', [false, false, false, true]],
    // One network: its own, or its provider's, is down.
    ['a1 b1 c1 d1 e1', [false, false, false, false, false]],
    ['a2 b1 c1 d1 e1', [false, false, true, true, true]],
    ['a1 b1 c2', [false, false, false]],
    // One of the two others has failed in two networks.
    ['a1 b1 b2 c1', [false, false, false, true]],
  ])('%s: it is our own outage after those of two other accounts in two networks', (failures, expected) => {
    expect(record().verdicts(failures)).toEqual(expected);
  });

  it('is no outage of ours for one account, whatever names and networks it has', () => {
    const { verdicts } = record();
    expect(verdicts(Array.from({ length: 9 }, (_, network) => `a${network}`).join(' '))).not.toContain(true);
  });

  it('is not our own outage while a connection succeeded within the last minute', () => {
    const { clock, outageDetector, verdicts } = record();
    outageDetector.connected();
    clock.advance(59_999);
    expect(verdicts('a1 b2 c3')).toEqual([false, false, false]);
    clock.advance(1);
    expect(verdicts('d4 e5')).toEqual([true, true]);
    outageDetector.connected();
    expect(verdicts('f6')).toEqual([false]);
  });

  it('is forgotten after a minute', () => {
    const { clock, verdicts } = record();
    verdicts('a1 b2');
    clock.advance(60_000);
    expect(verdicts('c3 d4 e5')).toEqual([false, false, true]);
  });

  it('counts by its latest failure', () => {
    const { clock, verdicts } = record();
    verdicts('a1 b2');
    clock.advance(59_999);
    verdicts('a1');
    clock.advance(1);
    expect(verdicts('c3')).toEqual([false]);
    expect(verdicts('d4')).toEqual([true]);
  });

  it('is remembered with a thousand others at most: the oldest is forgotten first', () => {
    const { outageDetector, verdicts } = record();
    verdicts('a1 b2');
    for (let failure = 0; failure < 999; failure++) {
      outageDetector.unreachable('c', `93.${failure >> 8}.${failure & 0xff}.34`);
    }
    expect(outageDetector.isOutage('c')).toBe(false);
    verdicts('a1');
    expect(outageDetector.isOutage('c')).toBe(false);
    expect(outageDetector.isOutage('d')).toBe(true);
  });
});
