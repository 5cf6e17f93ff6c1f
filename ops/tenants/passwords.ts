import { CliError } from '../stage/operator.ts';
import { requireOutput, type Target, type Task } from '../stage/target.ts';

/** A password to set. */
interface ChosenPassword {
  readonly password: string;
  /** The password, if it was generated and must be shown once. */
  readonly generatedPassword?: string;
}

/**
 * Generates a password or asks for one.
 * @throws {CliError} if the password is too short, too common, or too long for the token endpoint.
 */
export async function choosePassword(
  { target, askPassword }: PasswordTask,
  isGenerated = false,
): Promise<ChosenPassword> {
  const minimumLength = Number(requireOutput(target, 'PasswordMinimumLength'));
  if (isGenerated) {
    const password = target.makeId(Math.max(generatedLength, minimumLength));
    return { password, generatedPassword: password };
  }
  const check = (password: string) => passwordProblem(password, minimumLength);
  const password = await askPassword(check);
  const problem = await check(password);
  if (problem) throw new CliError(problem);
  return { password };
}

interface PasswordTask extends Pick<Task, 'askPassword'> {
  readonly target: Pick<Target, 'outputs' | 'makeId' | 'label' | 'unreachable'>;
}

/**
 * Returns the problem with a password and a solution, or `undefined` if the password is acceptable.
 * @param minimumLength - the stage's minimum, in Unicode code points of the normalised text (NIST SP 800-63B, section
 * 3.1.1.2).
 */
export async function passwordProblem(password: string, minimumLength: number): Promise<string | undefined> {
  if (password === '') return 'The password is empty. Pass one on standard input, or use --generate-password.';
  if (password.includes('\0')) return 'The password contains a NUL character. Choose another password.';
  if (Buffer.byteLength(password) > maxPassword) return `The password is longer than ${maxPassword} bytes.`;
  const characters = [...password.normalize('NFC')].length;
  if (characters < minimumLength) {
    return `The password has ${characters} characters, but at least ${minimumLength} are required. Choose another, or use --generate-password.`;
  }
  if (await isCommonPassword(password)) {
    return 'The password is too common. Choose another, or use --generate-password.';
  }
  return undefined;
}

/**
 * Returns whether a password, ignoring case, is a common password, or repeats one or a few characters. The zxcvbn-ts list of
 * common passwords is loaded on demand and is not bundled into functions.
 */
async function isCommonPassword(password: string): Promise<boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const common: readonly unknown[] = dictionary['passwords-common'] ?? []; // one search is faster than building a set
  const text = password.normalize('NFC').toLowerCase();
  return common.includes(text) || repeatedUnits(text).some(unit => unit.length <= shortUnit || common.includes(unit));
}

/** Returns the prefixes that produce the text when repeated. The last repetition may be incomplete. */
function repeatedUnits(text: string): string[] {
  return Array.from({ length: Math.max(text.length - 1, 0) }, (_, last) => text.slice(0, last + 1)).filter(
    unit => unit.repeat(Math.ceil(text.length / unit.length)).slice(0, text.length) === text,
  );
}

/** A repeated unit of at most this number of characters is easy to guess, even if the list does not contain it. */
const shortUnit = 3;

/** The length of a generated password. 22 letters or digits have 131 bits of entropy. */
const generatedLength = 22;

/** The maximum length in bytes. The token endpoint rejects longer passwords. */
const maxPassword = 1_024;
