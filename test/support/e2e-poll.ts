import { setTimeout as pause } from 'node:timers/promises';

/**
 * Asks again and again until there is an answer.
 *
 * @param what - what is awaited, for the failure.
 * @param limit - milliseconds; `interval`: those between two questions.
 * @throws when there is none within `limit`.
 */
export async function until<Value>(
  what: string,
  ask: () => Promise<Value | undefined> | Value | undefined,
  limit = 40_000, // an emulator on a busy machine takes half of it for what a run answers at once
  interval = 50,
): Promise<Value> {
  const deadline = Date.now() + limit;
  for (;;) {
    const value = await ask();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`${what}: nothing in ${limit} ms.`);
    await pause(interval);
  }
}
