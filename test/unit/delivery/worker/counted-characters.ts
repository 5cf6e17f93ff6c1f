import fc from 'fast-check';
import type { Characters } from '../../../../lambdas/delivery/worker/json-escapes.ts';

/** A text that counts how often one of its characters is looked at. */
export const counted = (text: string, looks: { count: number }): Characters => ({
  length: text.length,
  charCodeAt: index => {
    looks.count += 1;
    return text.charCodeAt(index);
  },
});

const units = [
  'a',
  '\\',
  'ab',
  '\\\\',
  '\\u0061',
  '\\u',
  '\\u00',
  '%',
  '%61',
  '%F0%9F',
  '&',
  '&a',
  '&#0',
  '&#97;',
  '&amp',
  '&verticalline',
];
const run = fc.tuple(fc.constantFrom(...units), fc.nat(500));
const runs = fc
  .array(run, { minLength: 1, maxLength: 3 })
  .map(parts => parts.map(([unit, times]) => unit.repeat(times)).join(''));

/** A needle and a text that have all but one character in common, over and over: what searches that start again fear. */
export const adversarialPair = fc.oneof(
  fc.tuple(
    runs.map(text => `${text}b`),
    runs.map(text => text.repeat(2)),
  ),
  fc.tuple(runs, runs),
  fc.tuple(
    runs.map(text => `b${text}`),
    runs,
  ),
);
