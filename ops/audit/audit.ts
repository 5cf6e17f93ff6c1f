import { CliError, describeError } from '../stage/operator.ts';
import type { Task } from '../stage/target.ts';
import type { Change, StartedLine, Subject, TargetKind } from './audit-log.ts';

/** The effect of a command. Commands that write data or disclose a body are audited. */
export type Effect = 'reads' | 'writes' | 'discloses';

/** An action with the properties of its audit line. */
export interface Audited<Args, Value> {
  readonly effect: Effect;
  readonly act: (task: AuditedTask, args: Args) => Promise<Value>;
  /** Returns true if a call writes or discloses data. Other calls write no audit line. */
  readonly isAudited?: (args: Args) => boolean;
  /** Adds defaults to the arguments. The audit line contains the defaults, too. */
  readonly withDefaults?: (task: Pick<Task, 'target'>, args: Args) => Args;
  /** Returns the target of the command. Looks up the ids in the arguments, because a line contains only ids that exist. */
  readonly subject?: (task: Pick<Task, 'target'>, args: Args) => Subject | Promise<Subject>;
  /** Returns the changes that the options request. */
  readonly change?: (args: Args) => Change;
}

/** An action that other code can call. */
export type Act<Args, Value> = (task: Task, args: Args) => Promise<Value>;

/** The task that an audited action receives. */
export interface AuditedTask extends Task {
  /** Records the results so far, for the audit line and the error message. Later values overwrite earlier ones. */
  readonly recordResult: (subject: Subject) => void;
  /** Writes a further line, for a target that does not fit in one line. */
  readonly appendTargets: (subject: Subject) => Promise<void>;
  /** Records one of many targets. Further lines list the targets even if the action fails. */
  readonly recordTarget: (kind: TargetKind, id: string) => void;
}

/** Returns an action that writes an audit line before it writes or discloses data, and fails if it cannot write the line. */
export function audited<Args, Value>(command: string, row: Audited<Args, Value>): Act<Args, Value> {
  const { effect, isAudited = () => true, withDefaults = (_task, args) => args } = row;
  return async function act(task, requested) {
    const args = withDefaults(task, requested);
    if (effect !== 'reads' && isAudited(args)) return actBetweenLines(command, row, task, args);
    return row.act({ ...task, recordResult: () => {}, appendTargets: async () => {}, recordTarget: () => {} }, args);
  };
}

/** Writes the first audit line, runs the action and writes the last line. @throws {CliError} if the first write fails. */
async function actBetweenLines<Args, Value>(
  command: string,
  { act, subject, change }: Audited<Args, Value>,
  task: Task,
  args: Args,
): Promise<Value> {
  const line = await start(task, command, (await subject?.(task, args)) ?? {}, change?.(args));
  let results: Subject = {};
  const recordResult = (subject: Subject) => {
    results = { ...results, ...subject };
  };
  const appendTargets = (more: Subject) => complete(task, () => line.continue(more));
  let written = Promise.resolve(); // lines are written one after another to limit memory use
  const recordTarget = (kind: TargetKind, id: string) => {
    written = written.then(() => complete(task, () => line.collect(kind, id)));
  };
  const end = async (outcome: 'done' | 'failed', error?: unknown) => {
    await written;
    await complete(task, line.flush);
    await complete(task, () => line.complete(outcome, results, error));
  };
  let value: Value;
  try {
    value = await act({ ...task, recordResult, appendTargets, recordTarget }, args);
  } catch (error) {
    const hasOwnCounts = error instanceof CliError && Object.keys(error.details).length > 0;
    const changes = hasOwnCounts ? [] : Object.entries(results).map(([name, value]) => `${name} ${value}`);
    if (changes.length > 0) task.warn(`before the failure, the command made these changes: ${changes.join(', ')}`);
    await end('failed', error);
    throw error;
  }
  await end('done');
  return value;
}

async function start(task: Task, command: string, subject: Subject, change?: Change): Promise<StartedLine> {
  try {
    const { openAuditLog } = await import('./audit-log.ts');
    const line = await openAuditLog(task.target).start(command, subject, change);
    warnOfClock(task);
    return line;
  } catch (error) {
    const why = describeError(error, task.target.unreachable);
    const next = error instanceof Error && error.name.startsWith('AccessDenied') ? ` ${advice}` : '';
    throw new CliError(`The command did not run, because it could not write its audit line: ${why}${next}`);
  }
}

/** Warns if this machine's clock is wrong. AWS responses have already corrected the target's clock. */
function warnOfClock({ target, warn }: Task): void {
  const ahead = target.clock.aheadBy();
  if (Math.abs(ahead) <= toleratedMs) return;
  const seconds = Math.round(Math.abs(ahead) / 1_000);
  warn(
    `this machine's clock is ${seconds} seconds ${ahead > 0 ? 'ahead of' : 'behind'} the clock of ${target.label}, which the command uses. Correct this machine's clock.`,
  );
}

const toleratedMs = 5_000;

const advice = 'docs/runbook.md, "The audit trail", lists the required permissions.';

/** Warns if a later line cannot be written. The command's own result or error is still reported. */
async function complete({ target, warn }: Task, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    warn(`could not complete the audit line: ${describeError(error, target.unreachable)}`);
  }
}
