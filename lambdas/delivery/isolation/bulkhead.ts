/** Counts what is under way by key, up to a limit: a bulkhead within one process. */
export interface Bulkhead {
  /** Takes a place. Gives what leaves it, or `undefined` where all of the key's places are taken. */
  enter(key: string): (() => void) | undefined;
}

/** Makes a count of nothing. It lives as long as the process, and holds only keys that have something under way. */
export function makeBulkhead(limit: number): Bulkhead {
  const underWay = new Map<string, number>();
  return {
    enter(key) {
      const count = underWay.get(key) ?? 0;
      if (count >= limit) return undefined;
      underWay.set(key, count + 1);
      return function leave() {
        const left = (underWay.get(key) ?? 1) - 1;
        if (left > 0) underWay.set(key, left);
        else underWay.delete(key);
      };
    },
  };
}
