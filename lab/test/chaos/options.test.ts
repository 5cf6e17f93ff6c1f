import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fullRun } from '../../chaos/fault-settings.ts';
import { readOptions } from '../../chaos/options.ts';

describe('the options of a chaos run', () => {
  it('have defaults', () => {
    const parts = ['faults', 'tls-floods', 'guesses', 'login-floods'];
    expect(readOptions([])).toEqual({ parts, faultRun: fullRun, help: false });
  });

  it('choose parts', () => {
    expect(readOptions(['--guesses', '--faults', '--events', '800', '--minutes', '6'])).toMatchObject({
      parts: ['faults', 'guesses'],
      faultRun: { events: 800, limit: 360_000 },
    });
  });

  it.each([[['--events', '0']], [['--events', '1.5']], [['--isolation']]])(
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
