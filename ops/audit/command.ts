import type { Command as CommanderCommand } from 'commander';
import type { ArgSpecs, Given } from '../command-line/arg-spec.ts';
import type { Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import { CliError } from '../stage/operator.ts';
import type { Target } from '../stage/target.ts';
import { type Act, type Audited, audited, type Effect } from './audit.ts';

/** An operator command, from which the command line is built. */
interface CommandRow<Of extends ArgSpecs, Value> extends Audited<Given<Of>, Value> {
  /** The description in the help. */
  readonly description: string;
  /** The text below the description in the help. */
  readonly notes?: string;
  /** The arguments and options, by the names of their values. */
  readonly given?: Of;
  /** Returns the problem of a combination of values. */
  readonly refuse?: (given: Given<Of>) => string | false | undefined;
  readonly report: (value: Value, given: Given<Of>, target: Target) => Report;
}

/** A command that programs call by `act`. It is audited if it writes or discloses a tenant's content. */
export interface Command<Asked, Value> extends ListedCommand {
  readonly act: Act<Asked, Value>;
}

/** A command as its noun lists it. */
interface ListedCommand {
  /** The words that run the command, also in the audit trail: `clients create`. */
  readonly name: string;
  readonly effect: Effect;
  readonly addTo: (noun: CommanderCommand, run: Run) => void;
}

/** A noun of the command line, which has commands or is itself a command. */
export interface Noun {
  readonly name: string;
  /** The description of a noun that is not a command itself. */
  readonly description?: string;
  readonly notes?: string;
  readonly commands: readonly ListedCommand[];
}

/** Creates a command. @param name - the words that run it and identify it in logs, or only the noun without a verb. */
export function command<Value, Of extends ArgSpecs = Readonly<Record<never, never>>>(
  name: string,
  row: CommandRow<Of, Value>,
): Command<Given<Of>, Value> {
  const { description, notes, refuse, report, effect } = row;
  const words: ArgSpecs = row.given ?? {};
  const act = audited(name, row);
  const [, verb] = name.split(' ');

  function addTo(noun: CommanderCommand, run: Run): void {
    const made = (verb === undefined ? noun : noun.command(verb)).description(description);
    for (const [value, word] of Object.entries(words)) word.addTo(made, value);
    if (notes !== undefined) made.addHelpText('after', notes);
    made.action(() => {
      // AWS time is not known yet. A problem that depends on the time is only reported once it is known.
      const [refusal, late] = [0, Number.MAX_SAFE_INTEGER].map(now => refuse?.(readGiven(made, now)));
      if (refusal && late) made.error(`error: ${refusal}`);
      let given: Given<Of>;
      return run(
        task => {
          given = readGiven(made, task.target.clock.now()); // AWS's responses have corrected the clock by now
          const refused = refuse?.(given);
          if (refused) throw new CliError(refused);
          return act(task, given);
        },
        (value, target) => report(value, given, target),
      );
    });
  }

  function readGiven(made: CommanderCommand, now: number): Given<Of> {
    const read = made.createCommand();
    for (const [name, word] of Object.entries(words)) {
      const value = word.read(made, name, now);
      if (value !== undefined) read.setOptionValue(name, value); // omitted values stay absent
    }
    return read.opts<Given<Of>>();
  }

  return { name, effect, act, addTo };
}
