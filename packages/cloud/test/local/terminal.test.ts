import { expect, it, onTestFinished, vi } from 'vitest';
import { openTerminal } from '../../src/local/terminal.ts';

const open = (isTTY = false) => {
  const written: string[] = [];
  const output = { isTTY, write: (text: string | Uint8Array) => written.push(String(text)) > 0 };
  return { written, ...openTerminal(output, () => new Date(2026, 0, 1, 12, 34, 56)) };
};

/** Returns a line as the functions write it. */
const structured = (more: object) =>
  JSON.stringify({ level: 'INFO', message: 'a.b', timestamp: 't', service: 's', ...more, requestId: 'r' });

it.each([
  ['plain text', 'plain text'],
  ['[1, 2]', '[1, 2]'],
  [structured({}), 'a.b'],
  [structured({ client: 'c1', count: 3, list: [1] }), 'a.b  client=c1  count=3  list=[1]'],
  [structured({ detail: 'two words' }), 'a.b  detail="two words"'],
  [structured({ level: 'WARN', message: 'one\n two' }), 'WARN  one two'],
  [structured({ level: 'ERROR', errorType: 'E', stack: ['at f', 'at g'] }), 'ERROR  a.b  errorType=E  at f'],
])("shows the line %s with the function's name", (line, shown) => {
  const { written, log } = open();
  log('auth/token', line);
  expect(written).toEqual([`12:34:56  auth/token            ${shown}\n`]);
});

it.each(['', '   ', '{"_aws":{},"Delivered":1}'])('does not show %j', line => {
  const { written, log } = open();
  log('auth/token', line);
  expect(written).toEqual([]);
});

// The gateway shows decoded paths, so %1b[2J could clear the screen and %0a could forge a line.
it('escapes control characters in notes', () => {
  const { written, note } = open();
  note('gateway', 'GET /\u001b[2J\n12:34:56  auth\0  404');
  expect(written.join('')).toMatch(/GET \/\\u\{1b\}\[2J\\u\{a\}12:34:56 {2}auth\\u\{0\} {2}404\n$/);
});

it('uses colours only on terminals without NO_COLOR', () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const [isTTY, noColor, expected] of [
    [true, '', true] as const,
    [true, '1', false] as const,
    [false, '', false] as const,
  ]) {
    vi.stubEnv('NO_COLOR', noColor);
    const { written, note } = open(isTTY);
    note('one', 'x', 'error');
    expect(written.join('').includes('\u001b')).toBe(expected);
  }
});

it('shows the duration of a step that succeeds', async () => {
  const { written, step } = open();
  expect(await step('Doing', async () => 7)).toBe(7);
  await expect(step('Failing', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(written).toEqual(['Doing 0.0 s\n']);
});
