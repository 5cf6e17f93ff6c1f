import { quantile } from '../../../tools/support/statistics.ts';

/** Waits from due to started attempts of one kind of receiver, in milliseconds. */
export interface Waits {
  readonly first: readonly number[];
  readonly retries: readonly number[];
}

/** Returns the 99th percentile, `NaN` without waits. */
export function p99(waits: readonly number[]): number {
  return quantile(waits, 0.99);
}

/** Returns the extra wait at the 99th percentile, compared with the same run without the attack. */
export function extraWaits(attacked: Waits, alone: Waits): Record<keyof Waits, number> {
  return { first: p99(attacked.first) - p99(alone.first), retries: p99(attacked.retries) - p99(alone.retries) };
}
