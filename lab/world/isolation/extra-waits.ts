import { quantile } from '../../../tools/support/statistics.ts';

/** The waits between the due time and the start of attempts, in milliseconds. */
export interface Waits {
  readonly first: readonly number[];
  readonly retries: readonly number[];
}

/** Returns the 99th percentile, or `NaN` if there are no waits. */
export function p99(waits: readonly number[]): number {
  return quantile(waits, 0.99);
}

/** Returns the extra wait at the 99th percentile, compared with a run without the attack. */
export function extraWaits(attacked: Waits, alone: Waits): Record<keyof Waits, number> {
  return { first: p99(attacked.first) - p99(alone.first), retries: p99(attacked.retries) - p99(alone.retries) };
}
