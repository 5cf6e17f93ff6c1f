import { CliError, describeError } from '../stage/operator.ts';
import type { Task } from '../stage/target.ts';
import type { BegunLine, Change, Listed, Subject } from './audit-log.ts';

/** The effect of a command: it only reads, it writes, or it discloses a body. The last two are audited. */
export type Effect = 'reads' | 'writes' | 'discloses';

/** An action with the properties of its audit line. */
export interface Audited<Given, Value> {
  readonly effect: Effect;
  readonly act: (task: AuditedTask, given: Given) => Promise<Value>;
  /** Returns whether a call writes or discloses data. Other calls only read, and write no audit line. */
  readonly isAudited?: (given: Given) => boolean;
  /** Adds the defaults before the audit line is written, so that the line contains them. */
  readonly withDefaults?: (task: Pick<Task, 'target'>, given: Given) => Given;
  /** Returns the target of the command. It looks up the arguments, so that a line contains only ids that exist. */
  readonly subject?: (task: Pick<Task, 'target'>, given: Given) => Subject | Promise<Subject>;
  /** Returns the requested changes, from the options. */
  readonly change?: (given: Given) => Change;
}

/** An action as programs call it. */
export type Act<Given, Value> = (task: Task, given: Given) => Promise<Value>;

/** The task of an audited action. */
export interface AuditedTask extends Task {
  /** Records the results so far, for the audit line and for the error message. The last call wins. */
  readonly recordResult: (subject: Subject) => void;
  /** Writes a further line, for a target that does not fit in one line. */
  readonly appendTargets: (subject: Subject) => Promise<void>;
  /** Records one of any number of targets. Further lines list them even if the action fails. */
  readonly recordTarget: (kind: Listed, id: string) => void;
}

/** Returns an action that writes an audit line before it writes or discloses, and fails if it cannot write the line. */
export function audited<Given, Value>(command: string, row: Audited<Given, Value>): Act<Given, Value> {
  const { effect, isAudited = () => true, withDefaults = (_task, given) => given } = row;
  return async function act(task, asked) {
    const given = withDefaults(task, asked);
    if (effect !== 'reads' && isAudited(given)) return actBetweenLines(command, row, task, given);
    return row.act({ ...task, recordResult: () => {}, appendTargets: async () => {}, recordTarget: () => {} }, given);
  };
}

/** Runs an action between the first and the last audit line. @throws {CliError} if the first line cannot be written. */
async function actBetweenLines<Given, Value>(
  command: string,
  { act, subject, change }: Audited<Given, Value>,
  task: Task,
  given: Given,
): Promise<Value> {
  const line = await begin(task, command, (await subject?.(task, given)) ?? {}, change?.(given));
  let done: Subject = {};
  const recordResult = (named: Subject) => {
    done = { ...done, ...named };
  };
  const appendTargets = (more: Subject) => complete(task, () => line.continue(more));
  let written = Promise.resolve(); // lines are written one after another, so that memory stays constant
  const recordTarget = (kind: Listed, id: string) => {
    written = written.then(() => complete(task, () => line.name(kind, id)));
  };
  const end = async (outcome: 'done' | 'failed', error?: unknown) => {
    await written;
    await complete(task, line.nameRest);
    await complete(task, () => line.complete(outcome, done, error));
  };
  let value: Value;
  try {
    value = await act({ ...task, recordResult, appendTargets, recordTarget }, given);
  } catch (error) {
    const hasOwnCounts = error instanceof CliError && Object.keys(error.details).length > 0;
    const results = hasOwnCounts ? [] : Object.entries(done).map(([name, named]) => `${name} ${named}`);
    if (results.length > 0) task.warn(`before the failure, this was done: ${results.join(', ')}`);
    await end('failed', error);
    throw error;
  }
  await end('done');
  return value;
}

async function begin(task: Task, command: string, subject: Subject, change?: Change): Promise<BegunLine> {
  try {
    const { openAuditLog } = await import('./audit-log.ts');
    const line = await openAuditLog(task.target).begin(command, subject, change);
    warnOfClock(task);
    return line;
  } catch (error) {
    const why = describeError(error, task.target.unreachable);
    const next = error instanceof Error && error.name.startsWith('AccessDenied') ? ` ${advice}` : '';
    throw new CliError(`The command did not run, because the audit line could not be written: ${why}${next}`);
  }
}

/** The first responses to a command have set the clock to AWS time. */
function warnOfClock({ target, warn }: Task): void {
  const ahead = target.clock.aheadBy();
  if (Math.abs(ahead) <= toleratedMs) return;
  const seconds = Math.round(Math.abs(ahead) / 1_000);
  warn(
    `this machine's clock is ${seconds} seconds ${ahead > 0 ? 'ahead of' : 'behind'} that of ${target.label}, whose time is used. Correct this clock.`,
  );
}

const toleratedMs = 5_000;

const advice = 'docs/runbook.md, "The audit trail", lists the required permissions.';

/** Warns if the last line cannot be written, without hiding the result or the error. */
async function complete({ target, warn }: Task, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    warn(`the audit line was started but could not be completed: ${describeError(error, target.unreachable)}`);
  }
}
