import type { ExtraWaits } from './extra-waits.ts';

/** The promise to webhooks that are not slow: the most that their attempts come later beside an attack. Milliseconds. */
export const bounds = {
  besideOne: { p99: 500, inWindow: 1_000, p999: 2_000 },
  besideMany: { p99: 1_500, inWindow: 2_500, p999: 4_000 },
} as const;

/** Returns the bounds that are not kept: where nothing was measured a figure is no number, and keeps none. */
export function brokenBounds(extra: ExtraWaits, promised: ExtraWaits): (keyof ExtraWaits)[] {
  return (['p99', 'inWindow', 'p999'] as const).filter(bound => !(extra[bound] <= promised[bound]));
}

/**
 * The promise of the slow lane: how late a webhook comes that answers in 3 s, and how many attempts one that hangs has under way at
 * once, and for how long more than about 60. The last is measured at one alone: beside fifty, attempts begin late and together.
 */
export const slowLaneBounds = { bystanderLongest: 30_000, mostUnderWay: 160, manyUnderWayFor: 20_000 } as const;

/** About 60: a tenth more, by which durations may differ. */
export const aboutSixty = 66;

/** The figures of the slow lane, in milliseconds but for the second. */
export type SlowLaneFigures = Readonly<Record<keyof typeof slowLaneBounds, number>>;

/** Returns the bounds of the slow lane that are exceeded. */
export function brokenSlowLaneBounds(figures: SlowLaneFigures, isOneAlone: boolean): (keyof SlowLaneFigures)[] {
  const alone = isOneAlone ? (['manyUnderWayFor'] as const) : [];
  return (['bystanderLongest', 'mostUnderWay', ...alone] as const).filter(
    bound => figures[bound] > slowLaneBounds[bound],
  );
}
