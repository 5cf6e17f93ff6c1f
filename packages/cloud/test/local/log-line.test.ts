import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readLogLine } from '../../src/local/log-line.ts';
import { openTerminal } from '../../src/local/terminal.ts';

/** A line as Powertools writes it. */
const structured = (more: object) =>
  JSON.stringify({
    level: 'INFO',
    message: 'token issued',
    timestamp: '2026-11-20T12:00:00.000Z',
    service: 'auth',
    cold_start: true,
    function_arn: 'arn',
    function_memory_size: '512',
    function_name: 'token',
    function_request_id: 'id',
    sampling_rate: 0,
    xray_trace_id: '1-2',
    ...more,
  });

describe('a line of a function', () => {
  it.each([
    ['plain text', 'plain text', 'info'],
    ['[1, 2]', '[1, 2]', 'info'],
    ['{"no":"log"}', '{"no":"log"}', 'info'],
    [structured({}), 'token issued', 'info'],
    [structured({ client: 'c1', count: 3, list: [1] }), 'token issued  client=c1  count=3  list=[1]', 'info'],
    [structured({ detail: 'two words' }), 'token issued  detail="two words"', 'info'],
    [structured({ level: 'WARN' }), 'token issued', 'warn'],
    [structured({ level: 'DEBUG' }), 'token issued', 'debug'],
    [
      structured({
        level: 'ERROR',
        error: { name: 'TypeError', message: 'bad', location: 'index.mjs:1', stack: 'x\ny' },
      }),
      'token issued  TypeError: bad (index.mjs:1)',
      'error',
    ],
    [
      JSON.stringify({
        level: 'ERROR',
        message: 'Invoke Error',
        errorType: 'E',
        errorMessage: 'm',
        stack: ['at f (a.ts:1)', 'at g'],
      }),
      'Invoke Error  errorType=E  errorMessage=m  at f (a.ts:1)',
      'error',
    ],
    [structured({ message: 'first\n  second' }), 'first second', 'info'],
  ])('%s', (line, text, level) => {
    expect(readLogLine(line)).toEqual({ text, level });
  });

  it.each([[''], ['   '], [JSON.stringify({ _aws: { CloudWatchMetrics: [] }, Delivered: 1 })]])(
    '%j is not shown',
    line => {
      expect(readLogLine(line)).toBeUndefined();
    },
  );
});

describe('the terminal', () => {
  const open = (isTTY: boolean, variables: Record<string, string> = {}) => {
    const written: string[] = [];
    const output = { isTTY, write: (text: string | Uint8Array) => written.push(String(text)) > 0 };
    return { written, terminal: openTerminal(output, variables, () => new Date(2026, 0, 1, 12, 34, 56)) };
  };

  it('shows one line each, under the name of its function', () => {
    const { written, terminal } = open(false);
    terminal.log('auth/token', structured({ level: 'WARN', client: 'c1' }));
    terminal.log('auth/token', JSON.stringify({ _aws: {} }));
    expect(written).toEqual(['12:34:56  auth/token            WARN  token issued  client=c1\n']);
  });

  // A request's path is shown decoded: %1b[2J cleared the screen, and %0a forged a line.
  it('escapes control characters in notes, and keeps them in one line', () => {
    const { written, terminal } = open(true, { NO_COLOR: '1' });
    terminal.note('gateway', 'GET /\u001b[2J\n12:34:56  auth\0  404');
    expect(written.join('')).toMatch(/GET \/\\u\{1b\}\[2J\\u\{a\}12:34:56 {2}auth\\u\{0\} {2}404\n$/);
  });

  it('colours functions on a terminal, each its own, unless NO_COLOR is set', () => {
    const { written, terminal } = open(true);
    terminal.note('one', 'x');
    terminal.note('two', 'x');
    terminal.note('one', 'x');
    const colours = written.map(line => line.split('one')[0]?.split('two')[0]?.slice(-5));
    expect(colours[0]).toBe(colours[2]);
    expect(colours[0]).not.toBe(colours[1]);
    for (const plain of [open(true, { NO_COLOR: '1' }), open(false)]) {
      plain.terminal.note('one', 'x', 'error');
      expect(plain.written.join('')).not.toContain('\u001b');
    }
  });

  it('keeps the current step on the last line', async () => {
    const { written, terminal } = open(true, {});
    await terminal.step('Doing', async () => terminal.say('meanwhile'));
    const shown = stripVTControlCharacters(written.join('').replaceAll('\u001b[K', '<erase>'));
    expect(shown).toBe('Doing …\r<erase>meanwhile\nDoing …\r<erase>Doing 0.0 s\n');
  });

  it('shows how long a step took, and nothing of one that failed', async () => {
    const { written, terminal } = open(false);
    expect(await terminal.step('Doing', async () => 7)).toBe(7);
    expect(written).toEqual(['Doing 0.0 s\n']);
    await expect(terminal.step('Failing', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(written).toHaveLength(1);
  });
});
