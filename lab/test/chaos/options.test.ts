import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOptions } from '../../chaos/options.ts';
import { fullRun } from '../../chaos/run-settings.ts';

describe('the options of a chaos run', () => {
  it('have defaults', () => {
    expect(readOptions([])).toEqual({ part: 'all', settings: fullRun, help: false });
  });

  it('choose a part', () => {
    expect(readOptions(['--guesses']).part).toBe('guesses');
    expect(readOptions(['--faults', '--events', '800', '--seed', '7'])).toMatchObject({
      part: 'faults',
      settings: { events: 800, seed: 7 },
    });
  });

  it.each([[['--faults', '--guesses']], [['--events', '0']], [['--isolation']], [['--events', '1.5']], [['--fast']]])(
    'refuse %j, which would measure nothing or something else',
    words => {
      expect(() => readOptions(words)).toThrow(TypeError);
    },
  );

  it('are told with the usage and without a stack trace where they are not understood, and end with 2', () => {
    const program = join(import.meta.dirname, '../../chaos/chaos.ts');
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--fast'], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^Unknown option '--fast'.*\nnpm run chaos/);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});
