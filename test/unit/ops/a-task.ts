import type { Target, Task } from '../../../ops/stage/target.ts';

/** Returns a task at a target, without output and with every question confirmed. */
export function aTask(target: Target, changes: Partial<Task> = {}): Task {
  const nothing = () => {};
  const asked = { confirm: async () => {}, askPassword: async () => '' };
  return { target, progress: nothing, print: nothing, warn: nothing, ...asked, ...changes };
}

/** The audit functions of a task whose audit line is not checked. */
export const unread = { recordResult: () => {}, appendTargets: async () => {}, recordTarget: () => {} };
