import type { Target, Task } from '../../../ops/stage/target.ts';

/** Returns a task at a target that tells nobody anything, and to which everything is confirmed. */
export function aTask(target: Target, changes: Partial<Task> = {}): Task {
  const nothing = () => {};
  const asked = { confirm: async () => {}, askPassword: async () => '' };
  return { target, progress: nothing, tell: nothing, warn: nothing, ...asked, ...changes };
}

/** The names of a task, where nobody reads its audit line. */
export const unread = { recordResult: () => {}, appendTargets: async () => {}, recordTarget: () => {} };
