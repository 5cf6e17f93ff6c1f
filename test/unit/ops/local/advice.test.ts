import { StartError, type StartProblem } from '@emissor/cloud/errors';
import { expect, it } from 'vitest';
import { withAdvice } from '../../../../ops/local/advice.ts';

it.each<[StartProblem, string]>([
  [
    'port-in-use',
    'This, perhaps by another run. Stop that run, or choose other ports with --port N (a run uses N to N+5; 0 uses any free ports).',
  ],
  ['port-refused', 'This. Choose another --port, 1024 or higher.'],
  ['outputs-unwritable', 'This. Choose another file with --outputs.'],
  ['data-in-use', 'This. Stop that run, or name another directory with --data.'],
  ['data-unfit', 'This. Name an empty directory with --data.'],
  ['data-damaged', 'This. Restore it from a copy, or name another directory with --data.'],
])('%s: the message says which option helps', (problem, told) => {
  expect(withAdvice(new StartError('This', problem))).toBe(told);
});

it('leaves other messages as they are', () => {
  expect(withAdvice(new StartError('This.'))).toBe('This.');
});
