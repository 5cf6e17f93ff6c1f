import { attackOf } from './attacks.ts';
import { bounds, brokenBounds, brokenSlowLaneBounds, type SlowLaneFigures, slowLaneBounds } from './bounds.ts';
import { type ExtraWaits, extraWaits } from './extra-waits.ts';
import { attackLength, type Trial } from './plan.ts';
import type { RunResult } from './run-tenants.ts';

/** The cost of an attack to innocents, and the promises that it broke. */
export interface Verdict {
  readonly first: ExtraWaits;
  readonly retries: ExtraWaits;
  readonly slowLane: SlowLaneFigures;
  /** The broken promises. */
  readonly broken: readonly string[];
}

/** Judges an attack, by its run and by the run of the same innocents alone; `length`: of both, in milliseconds. */
export function judge(
  { attack, situation }: Trial,
  beside: RunResult,
  alone: RunResult,
  length: number = attackLength,
): Verdict {
  const { accounts, length: withoutInnocents } = attackOf(attack);
  const period = { from: situation.from, until: situation.from + length };
  const { first, retries } = extraWaits(beside.waits, alone.waits, period);
  const { slowLane } = beside;
  const promised = promisedBeside({ attack });
  const tell = (kind: string, extra: ExtraWaits) =>
    brokenBounds(extra, promised).map(bound => `${kind} ${bound} ${Math.round(extra[bound])} > ${promised[bound]} ms`);
  return {
    first,
    retries,
    slowLane,
    broken: [
      ...(withoutInnocents === undefined ? [...tell('first', first), ...tell('retries', retries)] : []),
      ...brokenSlowLaneBounds(slowLane, accounts === 1).map(
        bound => `${bound} ${Math.round(slowLane[bound])} > ${slowLaneBounds[bound]}`,
      ),
      ...(beside.deadLetters > 0 ? [`${beside.deadLetters} dead letters`] : []),
    ],
  };
}

/** Returns the bounds that hold beside an attack. */
export function promisedBeside({ attack }: Pick<Trial, 'attack'>): ExtraWaits {
  return bounds[attackOf(attack).accounts === 1 ? 'besideOne' : 'besideMany'];
}
