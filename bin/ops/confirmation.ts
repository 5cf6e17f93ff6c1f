import { createInterface } from 'node:readline/promises';
import { Option } from 'commander';
import { CliError } from './cli-error.ts';

/** The option of every command that does what cannot be undone: a script says with it what a person says when asked. */
export function yesOption(): Option {
  return new Option('--yes', 'do what cannot be undone without asking');
}

/**
 * Asks before something that cannot be undone. Without a terminal nobody can be asked: it is refused then, unless the
 * command was given `--yes`. The question goes to standard error, so that `--json` stays clean.
 *
 * @param consequences - what will be so, in a sentence: `This ends every access token of stage prod.`
 * @param yes - whether `--yes` was given.
 * @throws {CliError} unless the answer is yes.
 */
export async function confirm(consequences: string, yes = false, place: Place = process): Promise<void> {
  if (yes) return;
  if (!place.stdin.isTTY) {
    throw new CliError(`${consequences} That cannot be undone, and without a terminal nobody can be asked: add --yes.`);
  }
  const terminal = createInterface({ input: place.stdin, output: place.stderr });
  // An end of the input (Ctrl-D) closes the question without an answer: it would wait for ever.
  const closed = new Promise<string>(resolve => terminal.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([terminal.question(`${consequences}\nType "yes" to go on: `), closed]);
    if (answer.trim() !== 'yes') throw new CliError('cancelled: nothing was changed.');
  } finally {
    terminal.close();
  }
}

/** Where it is asked: the process's own streams, but for tests. */
interface Place {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream;
}
