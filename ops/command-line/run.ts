import type { Action } from '../stage/action.ts';
import { CliError, describeError } from '../stage/operator.ts';
import type { Target, TargetOptions } from '../stage/target.ts';
import type { Report } from './report.ts';
import { confirm, makeAskPassword, makeProgress, noProgress, type Streams } from './terminal.ts';

/**
 * Makes what commander calls for a command: an action on the target that the options choose, with the command's arguments and
 * options, and the report of what it returns. An action that does not say what it is for the audit trail is none. Commander adds the
 * command itself as a last argument, which no action takes.
 *
 * Actions are loaded when a command runs, because the SDK takes longer to load than the rest takes to run.
 */
export type Run = <Loaded, Given extends readonly unknown[], Value>(
  load: () => Promise<{ readonly actions: Loaded }>,
  choose: (actions: Loaded) => Action<Given, Value>,
  report: (value: Value) => Report,
) => (...given: Given) => Promise<void>;

/** A command that was refused or failed. The message is the one line to show. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  /** The values that `--json` shows beside the message. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(message: string, details: Readonly<Record<string, unknown>>) {
    super(message);
    this.details = details;
  }
}

/**
 * Makes the runner of commands. What it runs throws {@link CommandFailed}.
 *
 * @param readOptions - returns the options that every command accepts, once they are parsed.
 */
export function makeRun({ stdin, stdout, stderr }: Streams, readOptions: () => GlobalOptions): Run {
  return function run(load, choose, report) {
    return async function runCommand(...given) {
      const { json = false, yes = false, ...options } = readOptions();
      const progress = makeProgress(stderr);
      const warnings: string[] = [];
      let target: Target | undefined;
      try {
        const { findTarget } = await import('../stage/target.ts');
        target = await findTarget(options);
        const act = choose((await load()).actions);
        const task = {
          target,
          progress: json ? noProgress : progress.show,
          tell: (line: string) => {
            progress.clear();
            if (!json) stderr.write(`${line}\n`);
          },
          warn: (text: string) => {
            progress.clear();
            if (json) warnings.push(text);
            else stderr.write(`warning: ${text}\n`);
          },
          confirm: (consequences: string) => confirm(consequences, yes),
          askPassword: makeAskPassword(stdin),
        };
        const value = await act(task, ...given);
        progress.clear();
        const { json: view, text } = report(value);
        stdout.write(`${json ? JSON.stringify(view, null, 2) : text}\n`);
        for (const warning of warnings) stderr.write(`${JSON.stringify({ warning })}\n`);
      } catch (error) {
        progress.clear();
        throw new CommandFailed(
          describeError(error, target?.unreachable ?? 'AWS does not answer: check the network and AWS_REGION.'),
          { ...(error instanceof CliError && error.details), ...(warnings.length > 0 && { warnings }) }, // one object
        );
      }
    };
  };
}

/** The options that every command accepts. Only those that ask look at `yes`. */
export interface GlobalOptions extends TargetOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
}
