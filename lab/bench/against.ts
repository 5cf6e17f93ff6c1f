import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { median, rotated } from '../../tools/support/statistics.ts';
import { root, withCheckout } from '../checkout.ts';

/** The medians of one figure, for these files and for a commit. */
interface Compared {
  readonly figure: string;
  readonly ours: number;
  readonly theirs: number;
  /** Median of the ratios of neighbouring rounds, which is robust when the machine's speed drifts. */
  readonly ratio: number;
}

/**
 * Runs the benchmark of these files and of a commit alternately, each with `--json` and the given arguments. Returns
 * the figures that both runs have.
 */
export function measureAgainst(commit: string, words: readonly string[], rounds: number): readonly Compared[] {
  return withCheckout(commit, folder => {
    const measured = { ours: [] as Figures[], theirs: [] as Figures[] };
    const folders = { ours: root, theirs: folder };
    for (let round = 0; round < rounds; round++)
      for (const whose of rotated(['ours', 'theirs'] as const, round))
        measured[whose].push(measure(folders[whose], words));
    return compare(measured.ours, measured.theirs);
  });
}

/** Returns the medians of the figures that both results have. */
export function compare(ours: readonly Figures[], theirs: readonly Figures[]): readonly Compared[] {
  return [...(ours[0]?.keys() ?? [])].flatMap(figure => {
    const [own, other] = [ours, theirs].map(rounds => rounds.flatMap(figures => figures.get(figure) ?? []));
    if (!own || !other || own.length !== other.length) return [];
    const ratios = own.map((value, round) => value / (other[round] ?? Number.NaN));
    return [{ figure, ours: median(own), theirs: median(other), ratio: median(ratios) }];
  });
}

/** The numbers of a result, by their property paths. */
export type Figures = ReadonlyMap<string, number>;

/** Returns all numbers in a result. The first text in a row names the row. */
export function figuresIn(result: unknown, name: string): Figures {
  if (typeof result === 'number') return new Map([[name, result]]);
  if (typeof result !== 'object' || result === null) return new Map();
  const entries = Array.isArray(result)
    ? result.map((row, at) => [Object.values(row).find(value => typeof value === 'string') ?? at, row] as const)
    : Object.entries(result);
  return new Map(entries.flatMap(([key, inner]) => [...figuresIn(inner, `${name} ${key}`.trim())]));
}

function measure(folder: string, words: readonly string[]): Figures {
  const program = path.join(folder, 'lab/bench/bench.ts');
  const output = execFileSync(process.execPath, [program, '--json', ...words], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return figuresIn(JSON.parse(output), '');
}
