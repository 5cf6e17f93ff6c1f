import { createInterface } from 'node:readline/promises';
import { Fault } from './fault.ts';

/**
 * Asks whoever sits at a terminal before something that cannot be undone; a script has said what it wants. The question
 * goes to standard error, so that `--json` stays clean.
 *
 * @throws {Fault} unless the answer is yes.
 */
export const confirm = async (consequences: string): Promise<void> => {
  if (!process.stdin.isTTY) return;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${consequences}\nType "yes" to go on: `);
    if (answer.trim() !== 'yes') throw new Fault('cancelled: nothing was changed.');
  } finally {
    terminal.close();
  }
};
