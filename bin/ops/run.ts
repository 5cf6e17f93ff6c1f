import type { Command } from 'commander';
import { CliError, describeError } from './cli-error.ts';
import type { Report } from './report.ts';
import { findTarget, type Target, type TargetOptions } from './target.ts';
import { makeProgress, noProgress, type ShowProgress, type Streams } from './terminal.ts';

/** Runs the action of a command on the target that its options choose, and writes the report of what the action gives. */
export type Run = <Value>(command: Command, act: Action<Value>, report: (value: Value) => Report) => Promise<void>;

/** A command that was refused or failed. The message is the one line to show. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  /** What `--json` shows beside the message. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(message: string, details: Readonly<Record<string, unknown>>) {
    super(message);
    this.details = details;
  }
}

/** Makes the runner of commands. It throws {@link CommandFailed}. */
export function makeRun(streams: Streams): Run {
  return async function run(command, act, report) {
    const { json = false, ...options } = command.optsWithGlobals<GlobalOptions>();
    const progress = makeProgress(streams.stderr);
    let target: Target | undefined;
    try {
      target = await findTarget(options);
      const value = await act(target, json ? noProgress : progress.show, streams.stdin);
      progress.clear();
      const { json: view, text } = report(value);
      streams.stdout.write(`${json ? JSON.stringify(view, null, 2) : text}\n`);
    } catch (error) {
      progress.clear();
      throw new CommandFailed(
        describeError(error, target?.unreachable ?? 'AWS does not answer: check the network and AWS_REGION.'),
        error instanceof CliError ? error.details : {},
      );
    }
  };
}

/**
 * What a command does on its target. Long work shows its progress; a password may be read.
 *
 * Actions take and give values; the commands of a noun import them when one runs, because the SDK takes longer to load than
 * the rest takes to run.
 */
type Action<Value> = (target: Target, progress: ShowProgress, stdin: Streams['stdin']) => Promise<Value>;

/** The options that every command accepts. */
interface GlobalOptions extends TargetOptions {
  readonly json?: boolean;
}
