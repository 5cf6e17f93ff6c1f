import { expect, it } from 'vitest';
import { setBounded } from '../../../lambdas/platform/set-bounded.ts';

it('a full cache removes the oldest entry', () => {
  const memory = new Map<string, number>();
  for (const key of ['a', 'b', 'a', 'c']) setBounded(memory, key, memory.size, 2);
  expect([...memory.keys()]).toEqual(['a', 'c']);
});
