import type { Target, Task } from '../../../ops/stage/target.ts';

/** Returns a task that writes no output and confirms all questions. */
export function aTask(target: Target, changes: Partial<Task> = {}): Task {
  const nothing = () => {};
  const prompts = { confirm: async () => {}, askPassword: async () => '' };
  return { target, progress: nothing, print: nothing, warn: nothing, ...prompts, ...changes };
}

/** Audit functions that ignore their input. */
export const unread = { recordResult: () => {}, appendTargets: async () => {}, recordTarget: () => {} };
