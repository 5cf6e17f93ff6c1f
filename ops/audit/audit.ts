import type { Action } from '../stage/action.ts';
import { CliError, describeError } from '../stage/operator.ts';
import type { Task } from '../stage/target.ts';
import type { BegunLine, Change, Subject } from './audit-log.ts';

/** The ids that an audit line names, and nothing else of what an action was given or returns. */
export interface Naming<Given extends readonly unknown[], Value> {
  /** Names the target before the action. It looks up what was typed: a line names nothing that the stage does not hold. */
  readonly before?: (task: Pick<Task, 'target'>, ...given: Given) => Subject | Promise<Subject>;
  /** Names what is known when it is done. */
  readonly after?: (value: Value) => Subject;
  /** Tells what the action is asked to change, as its options have it. */
  readonly change?: (...given: Given) => Change;
}

/** The task of an action that is audited. */
export interface AuditedTask extends Task {
  /** Names what was done by now: its line has it also where the action then fails. What is named later replaces it. */
  readonly nameDone: (subject: Subject) => void;
  /** Writes a further line, for a target that is too long for one. */
  readonly nameMore: (subject: Subject) => Promise<void>;
}

/** Declares an action that changes nothing and shows no body. */
export function reads<Given extends readonly unknown[], Value>(
  act: (task: Task, ...given: Given) => Promise<Value>,
): Action<Given, Value> {
  return Object.assign((task: Task, ...given: Given) => act(task, ...given), { effect: { kind: 'reads' } as const });
}

/** Declares an action that changes something. It does nothing unless its audit line was begun. */
export function writes<Given extends readonly unknown[], Value>(
  command: string,
  act: (task: AuditedTask, ...given: Given) => Promise<Value>,
  naming: Naming<Given, Value> = {},
): Action<Given, Value> {
  const effect = { kind: 'writes', command } as const;
  return Object.assign((task: Task, ...given: Given) => audited(command, act, naming, task, given), { effect });
}

/**
 * Declares an action that shows the body of an event. It does nothing unless its audit line was begun.
 *
 * @param isLook - tells by its options a call that shows a body from one that does not, which is no more than a read.
 */
export function looks<Given extends readonly unknown[], Value>(
  command: string,
  act: (task: Task, ...given: Given) => Promise<Value>,
  { isLook = () => true, ...naming }: Naming<Given, Value> & { readonly isLook?: (...given: Given) => boolean } = {},
): Action<Given, Value> {
  const look = (task: Task, ...given: Given) =>
    isLook(...given) ? audited(command, act, naming, task, given) : act(task, ...given);
  return Object.assign(look, { effect: { kind: 'looks', command } as const });
}

/** Returns an action that completes what it is asked for before the audit line is begun: that tells it as it is done. */
export function completing<Asked, Given, Value>(
  action: Action<[Given], Value>,
  complete: (task: Pick<Task, 'target'>, asked: Asked) => Given,
): Action<[Asked], Value> {
  const act = async (task: Task, asked: Asked) => action(task, complete(task, asked));
  return Object.assign(act, { effect: action.effect });
}

/** Acts between the beginning and the completion of an audit line. @throws {CliError} where the line cannot be begun. */
async function audited<Given extends readonly unknown[], Value>(
  command: string,
  act: (task: AuditedTask, ...given: Given) => Promise<Value>,
  { before, after, change }: Naming<Given, Value>,
  task: Task,
  given: Given,
): Promise<Value> {
  const subject = (await before?.(task, ...given)) ?? {};
  const line = await begin(task, command, subject, change?.(...given));
  let done: Subject = {};
  const nameDone = (named: Subject) => {
    done = { ...done, ...named };
  };
  let value: Value;
  try {
    value = await act({ ...task, nameDone, nameMore: more => complete(task, () => line.continue(more)) }, ...given);
  } catch (error) {
    await complete(task, () => line.complete('failed', done, error));
    throw error;
  }
  await complete(task, () => line.complete('done', { ...done, ...after?.(value) }));
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
    throw new CliError(`nothing was done, because no audit line of it could be begun: ${why}${next}`);
  }
}

/** The first answers of a command told AWS's time. */
function tellClock({ target, warn }: Task): void {
  const ahead = target.clock.aheadBy();
  if (Math.abs(ahead) <= toleratedMs) return;
  const seconds = Math.round(Math.abs(ahead) / 1_000);
  warn(
    `this machine's clock is ${seconds} seconds ${ahead > 0 ? 'ahead of' : 'behind'} that of ${target.label}, whose time is used: set it.`,
  );
}

const toleratedMs = 5_000;

const advice = 'docs/runbook.md, "The audit trail", has the permissions that it needs.';

/** A line that cannot be completed is told. It hides neither the answer nor the error. */
async function complete({ target, warn }: Task, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    warn(`the audit line was begun and could not be completed: ${describeError(error, target.unreachable)}`);
  }
}
