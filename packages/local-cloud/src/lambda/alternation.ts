import type { LocalFunction } from './function.ts';
import type { InvocationOutcome } from './invocation.ts';

/**
 * Makes one function of two releases of it: every second invocation goes to `other`. As behind a Lambda alias with two
 * versions, each invocation is served by one of both, and the concurrency is that of the function, not of each version.
 */
export function alternate(own: LocalFunction, other: LocalFunction): LocalFunction {
  const waiting: (() => void)[] = [];
  const underWay = new Set<Promise<InvocationOutcome>>();
  let running = 0;
  const served = { own: 0, other: 0 };

  const takeSlot = async (): Promise<void> => {
    if (running < own.concurrency) running += 1;
    else await new Promise<void>(resolve => waiting.push(resolve));
  };

  /** Hands the slot to the invocation that has waited longest. */
  const leaveSlot = (): void => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };

  const serve = async (payload: string): Promise<InvocationOutcome> => {
    await takeSlot();
    const turn = served.own <= served.other ? 'own' : 'other';
    served[turn] += 1;
    return { own, other }[turn].invoke(payload).finally(leaveSlot);
  };

  return {
    definition: own.definition,
    concurrency: own.concurrency,
    served,
    invoke: payload => {
      const serving = serve(payload);
      underWay.add(serving);
      return serving.finally(() => underWay.delete(serving));
    },
    drain: async () => void (await Promise.all(underWay)),
    end: () => {
      own.end();
      other.end();
    },
  };
}
