import { attackOf, healthyBurst } from './attacks.ts';
import { bounds, maxInFlight } from './bounds.ts';
import { extraWaits, p99 } from './extra-waits.ts';
import type { Trial } from './plan.ts';
import type { RunResult } from './run-tenants.ts';

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly bound: number;
}

/** Returns the figures of an attack, compared with a run of the healthy accounts alone. Waits are in milliseconds. */
export function figuresOf({ attack }: Pick<Trial, 'attack'>, attacked: RunResult, alone: RunResult): readonly Figure[] {
  const { healthy, bystander, attacker } = attacked.waits;
  const { first, retries } = extraWaits(healthy, alone.waits.healthy);
  const extra = bounds[attackOf(attack).accounts === 1 ? 'nextToOne' : 'nextToFifty'];
  const burst = Math.max(...attacker.first);
  return [
    { name: 'extra wait of first attempts', value: first, bound: extra },
    { name: 'extra wait of retries', value: retries, bound: extra },
    { name: '3-s receiver', value: p99([...bystander.first, ...bystander.retries]), bound: bounds.slowReceiver },
    { name: 'slow lane in flight', value: attacked.maxInFlight, bound: maxInFlight },
    { name: 'dead-letter messages', value: attacked.deadLetters, bound: 0 },
    ...(attack === healthyBurst ? [{ name: 'healthy burst', value: burst, bound: bounds.healthyBurst }] : []),
  ];
}

/** Returns the exceeded limits. A figure without measurements is `NaN`, which exceeds every limit. */
export function exceededLimits(figures: readonly Figure[]): readonly string[] {
  return figures
    .filter(({ value, bound }) => !(value <= bound))
    .map(({ name, value, bound }) => `${name}: ${Math.round(value)} > ${bound}`);
}
