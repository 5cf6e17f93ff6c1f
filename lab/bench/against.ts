import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { median, rotated } from '../../tools/support/statistics.ts';
import { root, withCheckout } from '../checkout.ts';

/** The medians of one figure, for the working tree and another commit. */
interface Comparison {
  readonly figure: string;
  readonly current: number;
  readonly base: number;
  /** The median ratio over the rounds. Changes in the computer's speed barely affect it. */
  readonly ratio: number;
}

/**
 * Runs the benchmark alternately in the working tree and in a checkout of a commit, with `--json` and the same arguments. Returns
 * the figures that both versions report.
 */
export function measureAgainst(commit: string, args: readonly string[], rounds: number): readonly Comparison[] {
  return withCheckout(commit, folder => {
    const figures = { current: [] as Figures[], base: [] as Figures[] };
    const folders = { current: root, base: folder };
    for (let round = 0; round < rounds; round++)
      for (const version of rotated(['current', 'base'] as const, round))
        figures[version].push(measure(folders[version], args));
    return compare(figures.current, figures.base);
  });
}

/** Returns the medians and the median ratio of each figure that both versions report. */
export function compare(current: readonly Figures[], base: readonly Figures[]): readonly Comparison[] {
  return [...(current[0]?.keys() ?? [])].flatMap(figure => {
    const [values, baseValues] = [current, base].map(rounds => rounds.flatMap(figures => figures.get(figure) ?? []));
    if (!values || !baseValues || values.length !== baseValues.length) return [];
    const ratios = values.map((value, round) => value / (baseValues[round] ?? Number.NaN));
    return [{ figure, current: median(values), base: median(baseValues), ratio: median(ratios) }];
  });
}

/** The numbers in a result, by property path. */
export type Figures = ReadonlyMap<string, number>;

/** Returns all numbers in a result. The first string property of a row becomes the row's name in the path. */
export function figuresIn(result: unknown, name: string): Figures {
  if (typeof result === 'number') return new Map([[name, result]]);
  if (typeof result !== 'object' || result === null) return new Map();
  const entries = Array.isArray(result)
    ? result.map((row, index) => [Object.values(row).find(value => typeof value === 'string') ?? index, row] as const)
    : Object.entries(result);
  return new Map(entries.flatMap(([key, value]) => [...figuresIn(value, `${name} ${key}`.trim())]));
}

function measure(folder: string, args: readonly string[]): Figures {
  const program = path.join(folder, 'lab/bench/bench.ts');
  const output = execFileSync(process.execPath, [program, '--json', ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return figuresIn(JSON.parse(output), '');
}
