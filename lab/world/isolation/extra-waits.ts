import { quantile } from '../../../tools/support/statistics.ts';
import type { Period } from './tenant.ts';

/** The moments when attempts were due, and how long after that they began, in milliseconds. */
type Waits = readonly { readonly due: number; readonly wait: number }[];

export interface InnocentWaits {
  readonly first: Waits;
  readonly retries: Waits;
}

/** The extra waits of healthy attempts beside an attack, compared with the same run without it, in milliseconds. */
export interface ExtraWaits {
  /** In the 99th percentile. */
  readonly p99: number;
  /** The same of any ten seconds: the worst. */
  readonly inWindow: number;
  /** The wait that one in a thousand exceeds. */
  readonly p999: number;
}

/** Compares a run beside an attack with the same one without it. */
export function extraWaits(
  beside: InnocentWaits,
  alone: InnocentWaits,
  period: Period,
): Record<'first' | 'retries', ExtraWaits> {
  return {
    first: compare(beside.first, alone.first, period),
    retries: compare(beside.retries, alone.retries, period),
  };
}

/** Returns the larger of each. */
export function worstOf(one: ExtraWaits, other: ExtraWaits): ExtraWaits {
  return {
    p99: Math.max(one.p99, other.p99),
    inWindow: Math.max(one.inWindow, other.inWindow),
    p999: Math.max(one.p999, other.p999),
  };
}

function compare(beside: Waits, alone: Waits, period: Period): ExtraWaits {
  const [besideBySecond, aloneBySecond] = [bySecond(beside, period), bySecond(alone, period)];
  const extra = (share: number, from: number, until: number) =>
    quantile(besideBySecond.slice(from, until).flat(), share) -
    quantile(aloneBySecond.slice(from, until).flat(), share);
  let inWindow = 0;
  for (let from = 0; from + windowSeconds <= besideBySecond.length; from++) {
    const later = extra(0.99, from, from + windowSeconds);
    if (!Number.isNaN(later)) inWindow = Math.max(inWindow, later); // where nothing was due nobody waited
  }
  const seconds = besideBySecond.length;
  return { p99: extra(0.99, 0, seconds), inWindow, p999: extra(0.999, 0, seconds) };
}

/** Returns the waits of what was due in each second. */
function bySecond(waits: Waits, { from, until }: Period): number[][] {
  const seconds = Array.from({ length: Math.ceil((until - from) / 1_000) }, (): number[] => []);
  for (const { due, wait } of waits) seconds[Math.floor((due - from) / 1_000)]?.push(wait);
  return seconds;
}

const windowSeconds = 10;
