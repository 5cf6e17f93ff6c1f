import { CliError } from '../stage/operator.ts';
import type { Task } from '../stage/target.ts';

/**
 * Ends what is under way when the process is interrupted. A signal that comes later ends the process at once: what is under way may
 * take long.
 *
 * @param act - looks at the interruption between two steps, and may throw its reason.
 * @param tell - is told that it ends.
 * @param other - interrupts it, too.
 * @param reason - is said of the interruption.
 */
export async function untilInterrupted<Value>(
  act: (interruption: AbortSignal) => Promise<Value>,
  tell: (line: string) => void,
  other?: AbortSignal,
  reason = 'Interrupted. Run the same command again to continue.',
): Promise<Value> {
  const end = new AbortController();
  let firstAt: number | undefined;
  const interrupt = (name: NodeJS.Signals) => {
    if (firstAt !== undefined && Date.now() - firstAt > echo) process.exit(1);
    if (firstAt !== undefined) return;
    firstAt = Date.now();
    // At SIGHUP the terminal is gone: what is written to it fails.
    if (name !== 'SIGHUP')
      tell('Stopping when the work in flight is finished. Press Ctrl-C again to stop immediately.');
    end.abort(new CliError(reason));
  };
  for (const name of signals) process.on(name, interrupt);
  try {
    return await act(other ? AbortSignal.any([end.signal, other]) : end.signal);
  } finally {
    for (const name of signals) process.off(name, interrupt);
  }
}

/** Acts until it is interrupted: dead letters that it received then show again at once. A program that hears signals itself has its own. */
export function interruptible<Of extends Task, Value>(task: Of, act: (task: Of) => Promise<Value>): Promise<Value> {
  if (task.interruption) return act(task);
  return untilInterrupted(signal => act({ ...task, interruption: signal }), task.tell, undefined, 'Interrupted.');
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm repeats the signal that the terminal sent already. Within this time, in milliseconds, it counts as the same one. */
const echo = 500;
