import type { Command as CommanderCommand } from 'commander';
import type { ArgSpecs, ParsedArgs } from '../command-line/arg-spec.ts';
import type { Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import { CliError } from '../stage/operator.ts';
import type { Target } from '../stage/target.ts';
import { type Act, type Audited, audited, type Effect } from './audit.ts';

/** The definition of an operator's command. */
interface CommandRow<Of extends ArgSpecs, Value> extends Audited<ParsedArgs<Of>, Value> {
  /** The description in the help. */
  readonly description: string;
  /** The text below the description in the help. */
  readonly notes?: string;
  /** The arguments and options, by the names of their values. */
  readonly args?: Of;
  /** Returns the error message for an invalid combination of values. */
  readonly validate?: (args: ParsedArgs<Of>) => string | false | undefined;
  readonly report: (value: Value, args: ParsedArgs<Of>, target: Target) => Report;
}

/** A command that other code can call with `act`. Calls that write data or disclose a tenant's content are audited. */
export interface Command<Input, Value> extends NounCommand {
  readonly act: Act<Input, Value>;
}

/** The properties of a command that its noun uses. */
interface NounCommand {
  /** The words that run the command and identify it in the audit trail, such as `clients create`. */
  readonly name: string;
  readonly effect: Effect;
  readonly addTo: (noun: CommanderCommand, run: Run) => void;
}

/** A noun of the command line. It has commands, or is itself a command. */
export interface Noun {
  readonly name: string;
  /** The description of a noun that is not a command itself. */
  readonly description?: string;
  readonly notes?: string;
  readonly commands: readonly NounCommand[];
}

/** Creates a command. @param name - the noun and the verb, or only the noun. */
export function command<Value, Of extends ArgSpecs = Readonly<Record<never, never>>>(
  name: string,
  row: CommandRow<Of, Value>,
): Command<ParsedArgs<Of>, Value> {
  const { description, notes, validate, report, effect } = row;
  const specs: ArgSpecs = row.args ?? {};
  const act = audited(name, row);
  const [, verb] = name.split(' ');

  function addTo(noun: CommanderCommand, run: Run): void {
    const parsed = (verb === undefined ? noun : noun.command(verb)).description(description);
    for (const [value, spec] of Object.entries(specs)) spec.addTo(parsed, value);
    if (notes !== undefined) parsed.addHelpText('after', notes);
    parsed.action(() => {
      // AWS time is not known yet, so only problems that do not depend on the time are reported now.
      const [problem, laterProblem] = [0, Number.MAX_SAFE_INTEGER].map(now => validate?.(readArgs(parsed, now)));
      if (problem && laterProblem) parsed.error(`error: ${problem}`);
      let args: ParsedArgs<Of>;
      return run(
        task => {
          args = readArgs(parsed, task.target.clock.now()); // AWS responses have already corrected the clock
          const message = validate?.(args);
          if (message) throw new CliError(message);
          return act(task, args);
        },
        (value, target) => report(value, args, target),
      );
    });
  }

  function readArgs(parsed: CommanderCommand, now: number): ParsedArgs<Of> {
    const read = parsed.createCommand();
    for (const [name, spec] of Object.entries(specs)) {
      const value = spec.read(parsed, name, now);
      if (value !== undefined) read.setOptionValue(name, value); // omitted values stay absent
    }
    return read.opts<ParsedArgs<Of>>();
  }

  return { name, effect, act, addTo };
}
