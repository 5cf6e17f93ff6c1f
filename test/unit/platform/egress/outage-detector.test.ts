import { describe, expect, it } from 'vitest';
import { makeOutageDetector } from '../../../../lambdas/platform/egress/outage-detector.ts';
import { frozenClock } from '../../../support/clock.ts';

const record = () => {
  const clock = frozenClock();
  return { clock, outageDetector: makeOutageDetector(clock) };
};

/** Returns the verdict on each host in turn. */
const verdicts = (hosts: string): boolean[] => {
  const { outageDetector } = record();
  return hosts.split(' ').map(outageDetector.unreachable);
};

describe('an unreachable host', () => {
  it.each([
    ['a', [false]],
    ['a a a a', [false, false, false, false]],
    ['a b a b', [false, false, false, false]],
    ['a b c', [false, false, true]],
    ['a b c a', [false, false, true, true]],
    ['a a b c', [false, false, false, true]],
    ['a b c d e', [false, false, true, true, true]],
  ])('%s: it is our own outage after two others', (hosts, expected) => {
    expect(verdicts(hosts)).toEqual(expected);
  });

  it('is not our own outage while a connection succeeded within the last minute', () => {
    const { clock, outageDetector } = record();
    outageDetector.connected();
    outageDetector.unreachable('a');
    clock.advance(59_999);
    outageDetector.unreachable('b');
    clock.advance(0);
    expect(outageDetector.unreachable('c')).toBe(false);
    clock.advance(1);
    outageDetector.unreachable('d');
    expect(outageDetector.unreachable('e')).toBe(true);
    outageDetector.connected();
    expect(outageDetector.unreachable('f')).toBe(false);
  });

  it('is forgotten after a minute', () => {
    const { clock, outageDetector } = record();
    outageDetector.unreachable('a');
    outageDetector.unreachable('b');
    clock.advance(60_000);
    expect(outageDetector.unreachable('c')).toBe(false);
    expect(outageDetector.unreachable('d')).toBe(false);
    expect(outageDetector.unreachable('e')).toBe(true);
  });

  it('counts by its latest failure, however many hosts there are', () => {
    const { clock, outageDetector } = record();
    for (let host = 0; host < 1_000; host++) outageDetector.unreachable(`host-${host}`);
    clock.advance(59_999);
    expect(outageDetector.unreachable('a')).toBe(true);
  });
});
