import type { Command } from 'commander';
import { describeFault } from './fault.ts';
import { type Report, writeReport } from './report.ts';
import { findTarget, type Target, type TargetOptions } from './target.ts';

/** The options every command takes. */
interface GlobalOptions extends TargetOptions {
  readonly json?: boolean;
}

/** Runs one command on the target its options choose, and writes what it reports. */
export type Run = (command: Command, act: (target: Target) => Promise<Report>) => Promise<void>;

/** Thrown for a command that failed; the message is the one line to show. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/**
 * Finds the target, acts, reports.
 *
 * @throws {CommandFailed}
 */
export const run: Run = async (command, act) => {
  const options = command.optsWithGlobals<GlobalOptions>();
  let target: Target | undefined;
  try {
    target = await findTarget(options);
    writeReport(await act(target), options.json ?? false);
  } catch (error) {
    throw new CommandFailed(
      describeFault(error, target?.unreachable ?? 'AWS does not answer: check the network and AWS_REGION.'),
    );
  }
};
