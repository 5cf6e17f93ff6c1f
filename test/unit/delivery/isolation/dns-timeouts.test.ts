import { describe, expect, it } from 'vitest';
import { makeDnsTimeouts } from '../../../../lambdas/delivery/isolation/dns-timeouts.ts';
import { frozenClock } from '../../../support/clock.ts';

/** Every host is another account's, unless a test says otherwise. */
const names = () => {
  const clock = frozenClock();
  const { begin, recordTimeout } = makeDnsTimeouts(clock.now);
  return {
    begin: (host: string, account: string | number = host) => begin(host, typeof account === 'string' ? account : host),
    recordTimeout: (host: string, account: string | number = host) =>
      recordTimeout(host, typeof account === 'string' ? account : host),
    clock,
  };
};

describe('a name that does not resolve in time', () => {
  it('is its own name server’s fault where nobody else’s goes unanswered', () => {
    const { begin, recordTimeout, clock } = names();
    begin('hooks.one.com');
    clock.advance(2_000);
    expect(recordTimeout('hooks.one.com')).toBe(false);
  });

  it.each([
    ['the resolver’s where two others have been in flight as long', 'a.one.com', ['a.two.com', 'a.three.com'], true],
    ['its own where one other is', 'a.one.com', ['a.two.com'], false],
    ['its own where two others of one domain are', 'a.one.com', ['a.two.com', 'b.two.com'], false],
    ['its own where two others of its own domain are', 'a.one.com', ['b.one.com', 'c.one.com'], false],
    ['its own where one other is beside its own domain', 'a.one.com', ['b.one.com', 'c.one.com', 'a.two.com'], false],
    ['the resolver’s under a public name', 'a.lojas.com.br', ['a.loja.com.br', 'a.casa.com.br'], true],
    ['its own under a public name', 'a.lojas.com.br', ['b.lojas.com.br', 'c.lojas.com.br'], false],
    ['the resolver’s under another public name', 'a.one.co.uk', ['a.two.co.uk', 'a.three.co.uk'], true],
    ['the resolver’s of names without hosts', 'one.com', ['two.com', 'three.com'], true],
    ['the resolver’s of a name with a full stop', 'a.one.com.', ['a.two.com', 'a.three.com'], true],
    ['the resolver’s of names of one word', 'localhost', ['one', 'two'], true],
  ])('is %s: %s beside %j', (_, host, others, expected) => {
    const { begin, recordTimeout, clock } = names();
    for (const name of [host, ...others]) begin(name);
    clock.advance(2_000);
    expect(recordTimeout(host)).toBe(expected);
  });

  // Three domains of one tenant whose name servers fell silent together passed for a slow resolver.
  it('is not excused by other domains of the same account', () => {
    const { begin, recordTimeout, clock } = names();
    for (const host of ['a.one.com', 'a.two.com', 'a.three.com']) begin(host, 'conta-1');
    clock.advance(2_000);
    expect(recordTimeout('a.one.com', 'conta-1')).toBe(false);
    expect(recordTimeout('a.four.com', 'conta-2')).toBe(true);
  });

  it('is judged beside others that went unanswered within 10 s, not before', () => {
    const { begin, recordTimeout, clock } = names();
    const ends = ['a.two.com', 'a.three.com'].map(begin);
    clock.advance(2_001);
    for (const end of ends) end();
    clock.advance(10_000);
    expect(recordTimeout('a.one.com')).toBe(true);
    clock.advance(1);
    expect(recordTimeout('a.four.com')).toBe(false);
  });

  it('is judged beside others that were told to be unanswered themselves', () => {
    const { recordTimeout } = names();
    expect(['a.one.com', 'a.two.com', 'a.three.com', 'a.four.com'].map(recordTimeout)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('is not excused by names that were answered in time, or have only begun', () => {
    const { begin, recordTimeout, clock } = names();
    const ends = ['a.two.com', 'a.three.com'].map(begin);
    clock.advance(2_000);
    for (const end of ends) end();
    begin('a.four.com');
    begin('a.five.com');
    clock.advance(999);
    expect(recordTimeout('a.one.com')).toBe(false);
    clock.advance(1);
    expect(recordTimeout('a.one.com')).toBe(true);
  });

  it('may be ended twice', () => {
    const { begin, recordTimeout, clock } = names();
    const ends = ['a.two.com', 'a.three.com'].map(begin);
    for (const end of ends) end();
    clock.advance(5_000);
    for (const end of ends) end();
    expect(recordTimeout('a.one.com')).toBe(false);
  });
});
