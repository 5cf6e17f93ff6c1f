import { createInterface } from 'node:readline/promises';
import { Fault } from './fault.ts';

/**
 * Asks before something that cannot be undone. The question goes to standard error, so that `--json` stays clean.
 *
 * @throws {Fault} unless the answer is yes; also where nobody can be asked, since a script says `--yes`.
 */
export const confirm = async (consequences: string): Promise<void> => {
  if (!process.stdin.isTTY) throw new Fault(`${consequences} Nothing was changed: repeat with --yes to do it.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${consequences}\nType "yes" to go on: `);
    if (answer.trim() !== 'yes') throw new Fault('cancelled: nothing was changed.');
  } finally {
    terminal.close();
  }
};
