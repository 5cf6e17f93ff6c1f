import { amount } from '../sample.ts';
import type { Crash } from './stepped-cloud.ts';

/**
 * Runs something again and again, whose process dies at its first call, at its second, and so on, before and after the call has its
 * effect. It ends with a run that the process survives, since it makes no more calls.
 *
 * @param sample - `npm test` tries the first crash and every `sample`th after it: an odd number, for crashes before effects and after them.
 * @throws when no process has died.
 */
export async function everyCrash(run: (crash: Crash) => Promise<void>, sample = 3): Promise<void> {
  let hasDied = true;
  for (let at = 0; hasDied; at += amount({ sample, full: 1 })) {
    hasDied = false;
    const onDeath = () => {
      hasDied = true;
    };
    await run({ afterCalls: Math.floor(at / 2), hasEffect: at % 2 === 1, onDeath });
    if (at === 0 && !hasDied) throw new Error('No process died.');
  }
}
