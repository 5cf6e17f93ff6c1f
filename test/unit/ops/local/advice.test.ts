import { StartError, type StartProblem } from '@emissor/cloud/errors';
import { expect, it } from 'vitest';
import { withAdvice } from '../../../../ops/local/advice.ts';

it.each<[StartProblem, string]>([
  [
    'port-in-use',
    'This, perhaps by another run: end that, or choose others with --port N (a run takes N to N+5; 0 takes any free ones).',
  ],
  ['port-refused', 'This: choose another --port, from 1024 up.'],
  ['outputs-unwritable', 'This. Choose another file with --outputs.'],
  ['data-in-use', 'This: end that one, or name another directory with --data.'],
  ['data-unfit', 'This: use a fresh --data.'],
  ['data-damaged', 'This. Restore it from a copy, or name another directory with --data.'],
])('%s: the message says which option helps', (problem, told) => {
  expect(withAdvice(new StartError('This', problem))).toBe(told);
});

it('leaves other messages as they are', () => {
  expect(withAdvice(new StartError('This.'))).toBe('This.');
});
