import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attacks } from '../../chaos/attacks.ts';
import { attacksNamed, planRuns } from '../../chaos/isolation-plan.ts';

describe('the runs of an isolation measurement', () => {
  it('hold every attack once in each order of the queues and round', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), rounds => {
        const plan = planRuns(attacks, rounds);
        expect(new Set(plan.map(({ order, round }) => `${order} ${round}`)).size).toBe(2 * rounds);
        for (const run of plan) expect(new Set(run.attacks)).toEqual(new Set(attacks));
      }),
    );
  });

  it('begin with as many attacks as they can, neither order always first', () => {
    const firsts = (chosen: typeof attacks, rounds: number) =>
      new Set(planRuns(chosen, rounds).map(run => run.attacks[0])).size;
    expect(firsts(attacks, 3)).toBe(6);
    expect(firsts(attacks, attacks.length)).toBe(attacks.length);
    expect(firsts(attacks.slice(0, 1), 3)).toBe(1);
    expect(planRuns(attacks, 3).map(({ order }) => order)).toEqual([
      ...['fair', 'arrival'],
      ...['arrival', 'fair'],
      ...['fair', 'arrival'],
    ]);
  });

  it('can be of the attacks that a part of a name chooses', () => {
    expect(attacksNamed('')).toEqual(attacks);
    expect(attacksNamed('burst of 600').map(({ burst }) => burst)).toEqual([600]);
    expect(() => attacksNamed('nonsense')).toThrow(
      /^No attack is called "nonsense".*\n(?:.*\n)*always hangs, burst of 600\n/,
    );
  });
});
