import { describe, expect, it } from 'vitest';
import { makeReceiverCosts } from '../../../../lambdas/platform/egress/receiver-costs.ts';
import { frozenClock } from '../../../support/clock.ts';

/** A process in which POSTs cost what they say. Each tells whether it was made. */
const start = () => {
  const clock = frozenClock();
  let processorTime = 0;
  const costs = makeReceiverCosts(clock.now, () => processorTime);
  const spend = (milliseconds: number) => {
    processorTime += milliseconds;
  };
  return {
    clock,
    costs,
    spend,
    isRefused: (host: string, accountId = `owner of ${host}`) => costs.open(host, accountId).isTooMuch(),
    post: (host: string, milliseconds: number, isAnswered = false, accountId = `owner of ${host}`) => {
      const connection = costs.open(host, accountId);
      if (connection.isTooMuch()) return false;
      connection.of(() => spend(milliseconds / 2));
      connection.of(() => {
        spend(milliseconds / 2);
        if (isAnswered) connection.answered();
      });
      return true;
    },
  };
};

describe('a host that costs processor time', () => {
  it.each([
    ['10 ms each', 10, 1_000],
    ['28 ms each', 28, 3],
    ['61 ms each', 61, 1],
    ['half a second each', 500, 1],
  ])('of %s is refused after %i %i', (_case, milliseconds, expected) => {
    const { post } = start();
    let made = 0;
    while (made < 1_000 && post('costly.example.com', milliseconds)) made += 1;
    expect(made).toBe(expected);
  });

  it('is refused alone', () => {
    const { post, isRefused } = start();
    post('costly.example.com', 500);
    expect(isRefused('costly.example.com')).toBe(true);
    expect(isRefused('other.example.com')).toBe(false);
  });

  it('is refused on other connections that are being opened, too', () => {
    const { costs, spend } = start();
    const [first, second] = [costs.open('costly.example.com', 'a'), costs.open('costly.example.com', 'b')];
    expect(second.isTooMuch()).toBe(false);
    first.of(() => spend(500));
    expect(second.isTooMuch()).toBe(true);
  });

  it('is refused for ten minutes', () => {
    const { clock, post, isRefused } = start();
    post('costly.example.com', 500);
    clock.advance(10 * 60_000 - 1);
    expect(isRefused('costly.example.com')).toBe(true);
    clock.advance(1);
    expect(isRefused('costly.example.com')).toBe(false);
  });

  it('is not refused for what our own garbage collector did now and then', () => {
    const { post } = start();
    for (let attempt = 0; attempt < 10_000; attempt++)
      expect(post('busy.example.com', attempt % 20 === 0 ? 40 : 2, true)).toBe(true);
  });

  it('is refused though it has cheap attempts that fail, and every third one is costly', () => {
    const { post } = start();
    const made = Array.from({ length: 100 }, (_, at) => post('costly.example.com', at % 3 === 0 ? 60 : 1));
    expect(made.filter(Boolean).length).toBeLessThan(10);
  });

  it('has an allowance for each attempt on a kept connection', () => {
    const { costs, spend, isRefused } = start();
    const connection = costs.open('kept.example.com', 'a');
    for (let attempt = 0; attempt < 1_000; attempt++) {
      connection.of(() => spend(9));
      connection.next();
    }
    expect(isRefused('kept.example.com')).toBe(false);
    for (let attempt = 0; attempt < 10; attempt++) {
      connection.of(() => spend(16));
      connection.next();
    }
    expect(isRefused('kept.example.com')).toBe(true);
  });
});

describe('an account whose receivers cost processor time', () => {
  it.each([
    ['10 ms each', 10, 1_000],
    ['28 ms each', 28, 3],
    ['a quarter of a second each', 250, 1],
  ])('of %s, with a new name for each attempt, is refused after %i %i', (_case, milliseconds, expected) => {
    const { post } = start();
    let made = 0;
    while (made < 1_000 && post(`h${made}.example.com`, milliseconds, false, 'acme')) made += 1;
    expect(made).toBe(expected);
  });

  it('is refused alone, and for ten minutes', () => {
    const { clock, post, isRefused } = start();
    post('costly.example.com', 250, false, 'acme');
    expect(isRefused('other.example.com', 'acme')).toBe(true);
    expect(isRefused('other.example.com', 'neighbour')).toBe(false);
    clock.advance(10 * 60_000);
    expect(isRefused('other.example.com', 'acme')).toBe(false);
  });

  it('pays alone for what its own doing makes costly', () => {
    const { costs, spend, isRefused } = start();
    costs.open('shared.example.com', 'acme').ofAccount(() => spend(500));
    expect(isRefused('shared.example.com', 'neighbour')).toBe(false);
    expect(isRefused('other.example.com', 'acme')).toBe(true);
  });

  it('is not refused for attempts that cost 10 ms in the mean, whatever their hosts are', () => {
    const { post } = start();
    for (let attempt = 0; attempt < 1_000; attempt++)
      expect(post(`h${attempt}.example.com`, attempt % 6 === 0 ? 40 : 2, true, 'acme')).toBe(true);
  });
});

it.each(['host', 'account'] as const)('a %s is remembered with a thousand others at most', who => {
  const { post, isRefused } = start();
  for (let at = 0; at <= 1_000; at++) post(`h${at}.example.com`, 500, false, `a${at}`);
  const isRemembered = (at: number) =>
    who === 'host' ? isRefused(`h${at}.example.com`, 'new') : isRefused('new.example.com', `a${at}`);
  expect([0, 1, 1_000].map(isRemembered)).toEqual([false, true, true]);
});
