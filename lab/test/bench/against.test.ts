import { expect, it } from 'vitest';
import { compare, figuresIn } from '../../bench/against.ts';

it('returns the median ratio of the figures that both versions report', () => {
  const current = [
    { bundles: [{ name: 'Token', kibibytes: 90, importMs: 40 }] },
    { bundles: [{ name: 'Token', kibibytes: 90, importMs: 20 }] },
  ];
  const base = [{ bundles: [{ name: 'Token', kibibytes: 100 }] }, { bundles: [{ name: 'Token', kibibytes: 100 }] }];
  const [figures = [], baseFigures = []] = [current, base].map(rounds => rounds.map(round => figuresIn(round, '')));
  expect(compare(figures, baseFigures)).toEqual([
    { figure: 'bundles Token kibibytes', current: 90, base: 100, ratio: 0.9 },
  ]);
});
