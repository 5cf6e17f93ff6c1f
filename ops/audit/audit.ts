import { CliError, describeError } from '../stage/operator.ts';
import type { Task } from '../stage/target.ts';
import type { BegunLine, Change, Listed, Subject } from './audit-log.ts';

/** A command: it only reads, it writes, or it looks at a body. The last two are audited. */
export type Effect = 'reads' | 'writes' | 'looks';

/** An action with its place in the audit trail: nobody can forget to say what it is. */
export interface Audited<Given, Value> {
  readonly effect: Effect;
  readonly act: (task: AuditedTask, given: Given) => Promise<Value>;
  /** Returns whether a call writes or discloses anything: otherwise it only reads, and leaves no audit line. */
  readonly isAudited?: (given: Given) => boolean;
  /** Completes what was given before the audit line is begun: that tells it as it is done. */
  readonly withDefaults?: (task: Pick<Task, 'target'>, given: Given) => Given;
  /** Names what it works on. It looks up what was typed: a line names nothing that the stage does not hold. */
  readonly subject?: (task: Pick<Task, 'target'>, given: Given) => Subject | Promise<Subject>;
  /** Tells what it is asked to change, as its options have it. */
  readonly change?: (given: Given) => Change;
}

/** An action as programs call it. */
export type Act<Given, Value> = (task: Task, given: Given) => Promise<Value>;

/** The task of an action that is audited. */
export interface AuditedTask extends Task {
  /** Names what was done by now: its line has it, and the operator is told of it where the action then fails. What is named later replaces it. */
  readonly recordResult: (subject: Subject) => void;
  /** Writes a further line, for a target that is too long for one. */
  readonly appendTargets: (subject: Subject) => Promise<void>;
  /** Names one of any number: further lines hold them all, also where the action fails. */
  readonly recordTarget: (kind: Listed, id: string) => void;
}

/** Returns an action that does nothing unless its audit line was begun, where it writes or looks at a body. */
export function audited<Given, Value>(command: string, row: Audited<Given, Value>): Act<Given, Value> {
  const { effect, isAudited = () => true, withDefaults = (_task, given) => given } = row;
  return async function act(task, asked) {
    const given = withDefaults(task, asked);
    if (effect !== 'reads' && isAudited(given)) return actBetweenLines(command, row, task, given);
    return row.act({ ...task, recordResult: () => {}, appendTargets: async () => {}, recordTarget: () => {} }, given);
  };
}

/** Acts between the beginning and the completion of an audit line. @throws {CliError} where the line cannot be begun. */
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
  let written = Promise.resolve(); // one after another: memory does not grow with what is named
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
    const told = hasOwnCounts ? [] : Object.entries(done).map(([name, named]) => `${name} ${named}`);
    if (told.length > 0) task.warn(`before the failure, this was done: ${told.join(', ')}`);
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
    tellClock(task);
    return line;
  } catch (error) {
    const why = describeError(error, task.target.unreachable);
    const next = error instanceof Error && error.name.startsWith('AccessDenied') ? ` ${advice}` : '';
    throw new CliError(`Nothing was done, because the audit line could not be written: ${why}${next}`);
  }
}

/** The first answers of a command told AWS's time. */
function tellClock({ target, warn }: Task): void {
  const ahead = target.clock.aheadBy();
  if (Math.abs(ahead) <= toleratedMs) return;
  const seconds = Math.round(Math.abs(ahead) / 1_000);
  warn(
    `this machine's clock is ${seconds} seconds ${ahead > 0 ? 'ahead of' : 'behind'} that of ${target.label}, whose time is used. Correct this clock.`,
  );
}

const toleratedMs = 5_000;

const advice = 'docs/runbook.md, "The audit trail", lists the required permissions.';

/** A line that cannot be completed is told. It hides neither the answer nor the error. */
async function complete({ target, warn }: Task, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    warn(`the audit line was started but could not be completed: ${describeError(error, target.unreachable)}`);
  }
}
