import type { Command } from 'commander';
import { describeError } from './cli-error.ts';
import type { Report } from './report.ts';
import { findTarget, type Target, type TargetOptions } from './target.ts';
import type { Streams } from './terminal.ts';
import { makeProgress, noProgress, type ShowProgress } from './terminal.ts';

/** Runs one command on the target its options choose, and writes what it reports. */
export type Run = (command: Command, act: Act) => Promise<void>;

/** Thrown for a command that was refused or failed; the message is the one line to show. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** Makes what finds the target, acts, and reports. It throws {@link CommandFailed}. */
export function makeRun(streams: Streams): Run {
  return async function run(command, act) {
    const { json = false, ...options } = command.optsWithGlobals<GlobalOptions>();
    const progress = makeProgress(streams.stderr);
    let target: Target | undefined;
    try {
      target = await findTarget(options);
      const report = await act(target, json ? noProgress : progress.show, streams.stdin);
      progress.clear();
      streams.stdout.write(`${json ? JSON.stringify(report.json, null, 2) : report.text}\n`);
    } catch (error) {
      progress.clear();
      throw new CommandFailed(
        describeError(error, target?.unreachable ?? 'AWS does not answer: check the network and AWS_REGION.'),
      );
    }
  };
}

/** What a command does on its target. Long work shows its progress; a password may be read. */
type Act = (target: Target, progress: ShowProgress, stdin: Streams['stdin']) => Promise<Report>;

/** The options every command takes. */
interface GlobalOptions extends TargetOptions {
  readonly json?: boolean;
}
