import { buffer } from 'node:stream/consumers';
import { Fault } from './fault.ts';

/** In Unicode code points of the normalised text, as NIST SP 800-63B-3 section 5.1.1.2 counts them. */
const advisedLength = 8;

/** The token endpoint refuses longer ones unread, so a user could never log in with one. */
const longestPassword = 1_024;

const check = (password: string): string | undefined => {
  if (password === '') return 'the password is empty.';
  if (password.includes('\0')) return 'the password contains a NUL character.';
  if (Buffer.byteLength(password) > longestPassword) return `the password is longer than ${longestPassword} bytes.`;
  return undefined;
};

/** Everything on standard input, without the one line break that `echo` and here-documents add. */
const fromStandardInput = async (): Promise<string> => {
  const bytes = await buffer(process.stdin);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw new Fault('the password on standard input is not UTF-8.');
  }
};

/** Asked twice, since nothing is shown; the prompt goes to standard error, so that `--json` stays clean. */
const fromPrompt = async (): Promise<string> => {
  const { default: prompt } = await import('@inquirer/password');
  const ask = async (message: string, validate: (value: string) => string | true): Promise<string> => {
    try {
      return await prompt({ message, mask: true, toggleMask: false, validate }, { output: process.stderr });
    } catch (error) {
      if (error instanceof Error && error.name === 'ExitPromptError')
        throw new Fault('cancelled: nothing was changed.');
      throw error;
    }
  };
  const password = await ask('Password:', value => check(value) ?? true);
  const repeated = await ask('Again:', () => true);
  if (password !== repeated) throw new Fault('the two passwords differ: nothing was changed.');
  return password;
};

/**
 * Reads a password from a hidden prompt, or from standard input where that is no terminal. Never from an argument:
 * arguments are seen by every process of the machine and stay in the shell's history.
 *
 * A short one is warned of and taken: what is long enough is the operator's to say.
 *
 * @throws {Fault} for a password that the token endpoint would not take.
 */
export const readPassword = async (): Promise<string> => {
  const password = process.stdin.isTTY ? await fromPrompt() : await fromStandardInput();
  const fault = check(password);
  if (fault) throw new Fault(fault);
  if ([...password.normalize('NFC')].length < advisedLength) {
    process.stderr.write(`warning: the password is shorter than ${advisedLength} characters: easily guessed.\n`);
  }
  return password;
};
