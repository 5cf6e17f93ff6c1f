import { attackOf, healthyBurst } from './attacks.ts';
import { bounds, maxInFlight } from './bounds.ts';
import { extraWaits, p99 } from './extra-waits.ts';
import type { Trial } from './plan.ts';
import type { RunResult } from './run-tenants.ts';

/** A figure of an attack, and the most that is promised. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly bound: number;
}

/** Returns the figures of an attack, by its run and by the run of the same innocents alone. Waits are in milliseconds. */
export function figuresOf({ attack }: Pick<Trial, 'attack'>, beside: RunResult, alone: RunResult): readonly Figure[] {
  const { innocent, bystander, attacker } = beside.waits;
  const { first, retries } = extraWaits(innocent, alone.waits.innocent);
  const extra = bounds[attackOf(attack).accounts === 1 ? 'nextToOne' : 'nextToFifty'];
  const burst = Math.max(...attacker.first);
  return [
    { name: 'first attempts later by', value: first, bound: extra },
    { name: 'retries later by', value: retries, bound: extra },
    { name: '3-s receiver', value: p99([...bystander.first, ...bystander.retries]), bound: bounds.slowReceiver },
    { name: 'slow lane in flight', value: beside.maxInFlight, bound: maxInFlight },
    { name: 'dead letters', value: beside.deadLetters, bound: 0 },
    ...(attack === healthyBurst ? [{ name: 'healthy burst', value: burst, bound: bounds.healthyBurst }] : []),
  ];
}

/** Returns the broken bounds. A figure without measurements is no number and meets no bound. */
export function brokenOf(figures: readonly Figure[]): readonly string[] {
  return figures
    .filter(({ value, bound }) => !(value <= bound))
    .map(({ name, value, bound }) => `${name}: ${Math.round(value)} > ${bound}`);
}
