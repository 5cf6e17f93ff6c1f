import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { BurstRow } from '../../bench/bursts.ts';
import { type PartName, partNames } from '../../bench/options.ts';
import type { ServiceResult } from '../../bench/service.ts';

it('measures every part with --quick', () => {
  const bench = join(import.meta.dirname, '../../bench/bench.ts');
  const output = execFileSync(process.execPath, [bench, '--quick', '--json'], { encoding: 'utf8', stdio: 'pipe' });
  const result: Measured = JSON.parse(output);
  const { service, bursts } = result;
  expect(service.cpuPerLoginWithoutHash).toBeLessThan(service.cpuPerLogin);
  expect(bursts.filter(({ memory }) => memory > 0)).toHaveLength(2);
  for (const part of partNames) expect(figuresIn(result[part]), part).not.toEqual([]);
  expect(figuresIn(result).filter(figure => !Number.isFinite(figure))).toEqual([]);
}, 600_000);

type Measured = Record<PartName, unknown> & { readonly service: ServiceResult; readonly bursts: readonly BurstRow[] };

/** Returns all numbers in a result. `JSON.stringify` writes `NaN` as `null`. */
function figuresIn(result: unknown): number[] {
  if (typeof result === 'number') return [result];
  if (result === null) return [Number.NaN];
  return typeof result === 'object' ? Object.values(result).flatMap(figuresIn) : [];
}
