import type { ExtraWaits } from './extra-waits.ts';

/** The promise to webhooks that are not slow: the most that their attempts come later beside an attack. Milliseconds. */
export const bounds = {
  besideOne: { p99: 500, inWindow: 1_000, p999: 2_000 },
  besideMany: { p99: 1_500, inWindow: 2_500, p999: 4_000 },
} as const;

/** With provisioned pollers more is promised of the whole time, and nothing of any part of it. */
export const boundsWhenProvisioned = {
  besideOne: { p99: 200, inWindow: Number.POSITIVE_INFINITY, p999: Number.POSITIVE_INFINITY },
  besideMany: { p99: 500, inWindow: Number.POSITIVE_INFINITY, p999: Number.POSITIVE_INFINITY },
} as const;

/** Returns the bounds that are exceeded. */
export function brokenBounds(extra: ExtraWaits, promised: ExtraWaits): (keyof ExtraWaits)[] {
  return (['p99', 'inWindow', 'p999'] as const).filter(bound => extra[bound] > promised[bound]);
}
