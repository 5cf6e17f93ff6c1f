import { describe, expect, it } from 'vitest';
import { descendants, parseState } from '../../../../tools/support/function-processes.ts';

describe('the processes of a function', () => {
  it('are the descendants of one process: another run on the machine is not counted', () => {
    const parents = { 2: 1, 3: 2, 4: 2, 5: 3, 6: 1, 7: 6 };
    const processes = new Map(Object.entries(parents).map(([id, parent]) => [Number(id), { parent }]));
    expect(descendants(processes, 2).toSorted()).toEqual([3, 4, 5]);
    expect(descendants(processes, 7)).toEqual([]);
  });

  it('are read by the fields after the name, which may hold brackets and blanks', () => {
    const rest = `S 41 ${'0 '.repeat(9)}120 30 7 5 20`;
    expect(parseState(`42 (node) x) ${rest}`)).toEqual({ parent: 41, ticks: 150 });
    expect(parseState('')).toBeUndefined();
  });
});
