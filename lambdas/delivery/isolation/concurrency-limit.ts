/** Limits what is in flight by key, within one process: a webhook that hangs fills its own places only. */
export interface ConcurrencyLimit {
  /** Takes a place. Gives what leaves it, or `undefined` where all of the key's places are taken. */
  enter(key: string): (() => void) | undefined;
}

/** Makes a limit of `places` for each key, all of them free. It lives as long as the process. */
export function makeConcurrencyLimit(places: number): ConcurrencyLimit {
  /** Only keys that have something in flight. */
  const inFlight = new Map<string, number>();
  return {
    enter(key) {
      const taken = inFlight.get(key) ?? 0;
      if (taken >= places) return undefined;
      inFlight.set(key, taken + 1);
      return function leave() {
        const left = (inFlight.get(key) ?? 1) - 1;
        if (left > 0) inFlight.set(key, left);
        else inFlight.delete(key);
      };
    },
  };
}
