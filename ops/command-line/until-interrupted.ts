import { CliError } from '../stage/operator.ts';
import type { Task } from '../stage/target.ts';

/**
 * Runs an action until the process is interrupted. A second signal ends the process immediately, because the action may
 * take a long time to stop.
 * @param act - checks the signal between steps, and may throw its reason.
 * @param print - receives the message that the action is stopping.
 * @param other - another signal that interrupts the action.
 * @param reason - the message of the interruption.
 */
export async function untilInterrupted<Value>(
  act: (interruption: AbortSignal) => Promise<Value>,
  print: (line: string) => void,
  other?: AbortSignal,
  reason = 'Interrupted. Run the same command again to continue.',
): Promise<Value> {
  const end = new AbortController();
  let firstAt: number | undefined;
  const interrupt = (name: NodeJS.Signals) => {
    if (firstAt !== undefined && Date.now() - firstAt > echoMs) process.exit(1);
    if (firstAt !== undefined) return;
    firstAt = Date.now();
    // After SIGHUP, the terminal no longer exists and a write to it would fail.
    if (name !== 'SIGHUP') print('Stopping after the work in flight. Press Ctrl-C again to stop immediately.');
    end.abort(new CliError(reason));
  };
  for (const name of signals) process.on(name, interrupt);
  try {
    return await act(other ? AbortSignal.any([end.signal, other]) : end.signal);
  } finally {
    for (const name of signals) process.off(name, interrupt);
  }
}

/** Runs an action that reads dead-letter messages. If it is interrupted, the messages reappear immediately. */
export function interruptible<Of extends Task, Value>(task: Of, act: (task: Of) => Promise<Value>): Promise<Value> {
  if (task.interruption) return act(task);
  return untilInterrupted(signal => act({ ...task, interruption: signal }), task.print, undefined, 'Interrupted.');
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Signals within this time are treated as one, because npm repeats the terminal's signal. In milliseconds. */
const echoMs = 500;
