import { describe, expect, it } from 'vitest';
import { bounds, brokenBounds } from '../../world/isolation/bounds.ts';
import { extraWaits, type InnocentWaits } from '../../world/isolation/extra-waits.ts';
import type { Tenant } from '../../world/isolation/tenant.ts';
import { makeTenantReceivers } from '../../world/isolation/tenant-receivers.ts';

const period = { from: 0, until: 180_000 };

/** A hundred attempts a second. `waitOf`: how long the one waits that is due at a moment. */
const resultOf = (waitOf: (due: number) => number): InnocentWaits => {
  const waits = Array.from({ length: 18_000 }, (_, index) => ({ due: index * 10, wait: waitOf(index * 10) }));
  return { first: waits, retries: [] };
};

/** Nobody is served for this long from the 60th second on. */
const standstill = (length: number) => (due: number) =>
  due >= 60_000 && due < 60_000 + length ? 60_000 + length - due : 10;

describe('the extra wait beside an attack', () => {
  it.each([
    ['nothing', 0, []],
    ['a standstill of 1 s', 1_000, []],
    ['a standstill of 1.2 s, which 180 s forgive', 1_200, ['inWindow']],
    ['a standstill of 2.4 s', 2_400, ['p99', 'inWindow', 'p999']],
  ])('is judged by three bounds: %s', (_, length, broken) => {
    const { first } = extraWaits(resultOf(standstill(length)), resultOf(standstill(0)), period);
    expect(brokenBounds(first, bounds.besideOne)).toEqual(broken);
  });

  it('exceeds the whole time’s bound alone where one in fifty comes 0.6 s later all the while', () => {
    const { first } = extraWaits(
      resultOf(due => (due % 500 === 0 ? 610 : 10)),
      resultOf(() => 10),
      period,
    );
    expect(first).toEqual({ p99: 600, inWindow: 600, p999: 600 });
    expect(brokenBounds(first, bounds.besideOne)).toEqual(['p99']);
  });

  it('exceeds the thousandth’s bound alone where two in a thousand come 2.1 s later', () => {
    const { first } = extraWaits(
      resultOf(due => (due % 5_000 === 0 ? 2_110 : 10)),
      resultOf(() => 10),
      period,
    );
    expect(brokenBounds(first, bounds.besideOne)).toEqual(['p999']);
  });

  it('is what the attack adds, and keeps no bound where nothing was measured', () => {
    const { first, retries } = extraWaits(resultOf(standstill(2_400)), resultOf(standstill(2_400)), period);
    expect(first).toEqual({ p99: 0, inWindow: 0, p999: 0 });
    expect(brokenBounds(retries, bounds.besideOne)).toEqual(['p99', 'p999']);
  });
});

// Bug: neither a bystander's event that was never POSTed nor a retry that was never sent was in any figure.
it('What nobody sends has waited until now', () => {
  const behave = () => ({ answers: 20, isSuccess: false });
  const of = (part: Tenant['part']): Tenant => ({
    ...{ part, account: part, webhook: part, resolves: 2, publishes: [0, 1_000], behave },
  });
  let now = 0;
  const receivers = makeTenantReceivers([of('innocent'), of('bystander')], period, 1, () => now);
  const [first = ''] = receivers.events.keys();
  receivers.side.take(first);
  now = 40_000;
  expect(receivers.waits()).toMatchObject({ first: [{ wait: 0 }, { wait: 39_000 }], retries: [{ wait: 40_000 }] });
  expect(receivers.slowLane().bystanderLongest).toBe(40_000);
});
