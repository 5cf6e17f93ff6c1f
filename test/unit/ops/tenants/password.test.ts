import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { randomId } from '../../../../lambdas/platform/identifiers.ts';
import { makeAskPassword } from '../../../../ops/command-line/terminal.ts';
import { choosePassword, passwordProblem } from '../../../../ops/tenants/passwords.ts';

const stageOf = (PasswordMinimumLength: string) => ({
  label: 'stage dev',
  unreachable: '',
  outputs: { PasswordMinimumLength },
  makeId: randomId,
});

describe('a password that an operator sets', () => {
  it.each([
    ['empty', '', 'empty'],
    ['text with a NUL character', 'nul\0 in the middle of it', 'NUL'],
    ['too long', 'x'.repeat(400) + 'é'.repeat(400), 'longer than 1024 bytes'],
    ['a short one with a combining accent', 'catorze letra\u0301s', '14 characters, but at least 15'],
    ['a common one', 'passwordpassword', 'too common'],
    ['a common one in another case', '1Qaz2wsx3edc4rfv', 'too common'],
    ['a common one, repeated', '123456123456123456', 'too common'],
    ['a common one, partly repeated', '123456789012345', 'too common'],
    ['one repeated character', 'aaaaaaaaaaaaaaaa', 'too common'],
  ])('is rejected if it is %s, and not quoted', async (_, password, reason) => {
    const problem = await passwordProblem(password, 15);
    expect(problem).toContain(reason);
    if (password !== '') expect(problem).not.toContain(password);
  });

  it.each(['correct horse battery', ' Senha 7f3a, ção ', 'áéíóúáéíóúabcd!'])('is accepted: %j', async password => {
    expect(await passwordProblem(password, 15)).toBeUndefined();
  });

  it('may be shorter if the stage allows it, but must not be common', async () => {
    expect(await passwordProblem('k7#mQ2vT', 8)).toBeUndefined();
    expect(await passwordProblem('k7#mQ2v', 8)).toContain('at least 8');
    expect(await passwordProblem('password1', 8)).toContain('too common');
  });
});

describe('a password prompt', () => {
  /** Types one line at each prompt. After the last line, closes the terminal. */
  const askPassword = async (...lines: (string | undefined)[]) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const stderr = new PassThrough();
    stderr.end = () => stderr; // a prompt cannot end the standard error of a process
    let shown = '';
    stderr.on('data', chunk => {
      shown += String(chunk);
      if (!/[Pp]assword:[^*]*$/.test(shown)) return;
      shown = '';
      const line = lines.shift();
      setImmediate(() => (typeof line === 'string' ? stdin.write(`${line}\r`) : stdin.end())); // the prompt listens only after its output
    });
    return await choosePassword({ target: stageOf('15'), askPassword: makeAskPassword(stdin, stderr) }).then(
      ({ password }) => password,
      (error: Error) => `${error.name}: ${error.message}`,
    );
  };
  const cancelled = 'CliError: Cancelled. No changes were made.';

  it('requires the same password twice', async () => {
    expect(await askPassword('correct horse battery', 'correct horse battery')).toBe('correct horse battery');
    expect(await askPassword('correct horse battery', 'correct horse stable')).toMatch(
      /^CliError: The two passwords differ/,
    );
  });

  it('is cancelled by the end of the input', async () => {
    expect(await askPassword()).toBe(cancelled);
    expect(await askPassword('correct horse battery')).toBe(cancelled);
  });

  it('is cancelled by Ctrl-C and Ctrl-D', async () => {
    for (const key of ['\u0003', '\u0004']) expect(await askPassword(key)).toBe(cancelled);
  });
});
