import type { Target, Task } from '../../../ops/stage/target.ts';

/** Returns a task that writes no output and confirms every question. */
export function aTask(target: Target, changes: Partial<Task> = {}): Task {
  const nothing = () => {};
  const asked = { confirm: async () => {}, askPassword: async () => '' };
  return { target, progress: nothing, print: nothing, warn: nothing, ...asked, ...changes };
}

/** Ignores what a task adds to its audit line. */
export const unread = { recordResult: () => {}, appendTargets: async () => {}, recordTarget: () => {} };
