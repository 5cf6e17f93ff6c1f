import { describe, expect, it } from 'vitest';
import { makeReachability } from '../../../../lambdas/platform/egress/reachability.ts';
import { frozenClock } from '../../../support/clock.ts';

const record = () => {
  const clock = frozenClock();
  return { clock, reachability: makeReachability(clock) };
};

/** What is said of each host in turn. */
const verdicts = (hosts: string): boolean[] => {
  const { reachability } = record();
  return hosts.split(' ').map(reachability.unreachable);
};

describe('a host without a way to it', () => {
  it.each([
    ['a', [false]],
    ['a a a a', [false, false, false, false]],
    ['a b a b', [false, false, false, false]],
    ['a b c', [false, false, true]],
    ['a b c a', [false, false, true, true]],
    ['a a b c', [false, false, false, true]],
    ['a b c d e', [false, false, true, true, true]],
  ])('%s: it is our fault after two others', (hosts, expected) => {
    expect(verdicts(hosts)).toEqual(expected);
  });

  it('is its owner’s matter as long as a connection came about within a minute', () => {
    const { clock, reachability } = record();
    reachability.connected();
    reachability.unreachable('a');
    clock.advance(59_999);
    reachability.unreachable('b');
    clock.advance(0);
    expect(reachability.unreachable('c')).toBe(false);
    clock.advance(1);
    reachability.unreachable('d');
    expect(reachability.unreachable('e')).toBe(true);
    reachability.connected();
    expect(reachability.unreachable('f')).toBe(false);
  });

  it('is forgotten after a minute', () => {
    const { clock, reachability } = record();
    reachability.unreachable('a');
    reachability.unreachable('b');
    clock.advance(60_000);
    expect(reachability.unreachable('c')).toBe(false);
    expect(reachability.unreachable('d')).toBe(false);
    expect(reachability.unreachable('e')).toBe(true);
  });

  it('counts from its latest failure, however many hosts there are', () => {
    const { clock, reachability } = record();
    for (let host = 0; host < 1_000; host++) reachability.unreachable(`host-${host}`);
    clock.advance(59_999);
    expect(reachability.unreachable('a')).toBe(true);
  });
});
