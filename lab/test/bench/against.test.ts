import { expect, it } from 'vitest';
import { compare, figuresIn } from '../../bench/against.ts';

it('returns the median ratio of the figures that both versions report', () => {
  const ours = [
    { bundles: [{ name: 'Token', kibibytes: 90, importMs: 40 }] },
    { bundles: [{ name: 'Token', kibibytes: 90, importMs: 20 }] },
  ];
  const theirs = [{ bundles: [{ name: 'Token', kibibytes: 100 }] }, { bundles: [{ name: 'Token', kibibytes: 100 }] }];
  const [own, other] = [ours, theirs].map(rounds => rounds.map(round => figuresIn(round, '')));
  expect(compare(own ?? [], other ?? [])).toEqual([
    { figure: 'bundles Token kibibytes', ours: 90, theirs: 100, ratio: 0.9 },
  ]);
});
