import { CliError, describeError } from '../stage/operator.ts';
import type { Target, TargetOptions, Task } from '../stage/target.ts';
import type { Report } from './report.ts';
import { confirm, makeAskPassword, makeProgress, noProgress, type Streams } from './terminal.ts';

/** Runs an action on the target that the options select, and prints its report. */
export type Run = <Value>(
  act: (task: Task) => Promise<Value>,
  report: (value: Value, target: Target) => Report,
) => Promise<void>;

/** The error from a command that was rejected or failed. Its message is shown to the operator. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  /** The values that `--json` shows in addition to the message. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(message: string, details: Readonly<Record<string, unknown>>) {
    super(message);
    this.details = details;
  }
}

/**
 * Creates the function that runs commands and throws {@link CommandFailed}.
 * @param readOptions - returns the global options after parsing.
 */
export function makeRun({ stdin, stdout, stderr, runtime }: Streams, readOptions: () => GlobalOptions): Run {
  return async function run(act, report) {
    const { json = false, yes = false, ...options } = readOptions();
    const progress = makeProgress(stderr);
    const warnings: string[] = [];
    let target: Target | undefined;
    try {
      const { findTarget } = await import('../stage/target.ts');
      target = await findTarget(options, runtime);
      const value = await act({
        target,
        progress: json ? noProgress : progress.show,
        print: line => {
          progress.clear();
          if (!json) stderr.write(`${line}\n`);
        },
        warn: text => {
          progress.clear();
          if (json) warnings.push(text);
          else stderr.write(`warning: ${text}\n`);
        },
        confirm: consequences => confirm(consequences, yes),
        askPassword: makeAskPassword(stdin),
      });
      progress.clear();
      const { json: view, text, failure } = report(value, target);
      stdout.write(`${json ? JSON.stringify(view, null, 2) : text}\n`);
      for (const warning of warnings) stderr.write(`${JSON.stringify({ warning })}\n`);
      if (failure !== undefined) throw new CliError(failure);
    } catch (error) {
      progress.clear();
      throw new CommandFailed(
        describeError(error, target?.unreachable ?? 'AWS did not respond. Check the network and AWS_REGION.'),
        { ...(error instanceof CliError && error.details), ...(warnings.length > 0 && { warnings }) },
      );
    }
  };
}

/** The options that every command accepts. Only commands that ask for confirmation use `yes`. */
export interface GlobalOptions extends TargetOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
}
