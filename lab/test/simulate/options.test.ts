import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOptions } from '../../simulate/options.ts';

describe('the options of a simulation', () => {
  it('have defaults', () => {
    expect(readOptions([])).toEqual({ only: '', seeds: 3, hours: 24, help: false });
    expect(readOptions(['--only', 'hangs', '--seeds', '1'])).toMatchObject({ only: 'hangs', seeds: 1 });
  });

  it.each([
    ['--seeds', 'x'],
    ['--seeds', '0'],
    ['--hours', '1.5'],
    ['--hours', '-1'],
    ['--rules', 'before'],
    ['--fast', ''],
  ])('refuse %s %s, which would simulate nothing and keep every promise, or something else', (option, value) => {
    expect(() => readOptions([`${option}=${value}`])).toThrow(TypeError);
  });

  it('are told with the usage and without a stack trace where they are not understood, and end with 2', () => {
    const program = join(import.meta.dirname, '../../simulate/simulate.ts');
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--fast'], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^Unknown option '--fast'.*\nnpm run simulate/);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});
