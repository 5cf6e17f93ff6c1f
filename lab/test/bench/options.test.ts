import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { partNames, readOptions } from '../../bench/options.ts';

describe('the options of the benchmark', () => {
  it('measure all parts where none is named', () => {
    expect(readOptions([])).toEqual({ parts: partNames, json: false, quick: false, help: false });
  });

  it('measure named parts once each, in the order of the page', () => {
    const { parts, json } = readOptions(['delivery', '--json', 'bundles', 'delivery']);
    expect({ parts, json }).toEqual({ parts: ['bundles', 'delivery'], json: true });
  });

  it.each([['--fast'], ['deliveries'], ['--json=yes'], ['toString']])('refuse %s', argument => {
    expect(() => readOptions([argument])).toThrow(TypeError);
  });

  it('are told with the usage where they are not understood, and end with 2 before anything is measured', () => {
    const program = join(import.meta.dirname, '../../bench/bench.ts');
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'deliveries'], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^There is no part "deliveries".*\nnpm run bench/);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});
