import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { partNames } from '../../bench/options.ts';

it('measures every part with --quick', () => {
  const bench = join(import.meta.dirname, '../../bench/bench.ts');
  const output = execFileSync(process.execPath, [bench, '--quick', '--json'], { encoding: 'utf8', stdio: 'pipe' });
  const result: Record<string, unknown> = JSON.parse(output);
  for (const part of partNames) expect(figuresIn(result[part]), part).not.toEqual([]);
  expect(figuresIn(result).filter(figure => !Number.isFinite(figure))).toEqual([]);
}, 300_000);

/** Returns all numbers in a result. `JSON.stringify` writes `NaN` as `null`. */
function figuresIn(result: unknown): number[] {
  if (typeof result === 'number') return [result];
  if (result === null) return [Number.NaN];
  return typeof result === 'object' ? Object.values(result).flatMap(figuresIn) : [];
}
