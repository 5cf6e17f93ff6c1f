/** Limits what is in hand by key, within one process. */
export type ConcurrencyLimit = ReturnType<typeof makeConcurrencyLimit>;

/** The number of places that a key has. */
export interface Places {
  readonly places: number;
  /** The number where other keys have taken `others` places or more. */
  readonly besideOthers: number;
  readonly others: number;
}

/** Makes a limit, all of its places free: a webhook that hangs fills its own places only. It lives as long as the process. */
export function makeConcurrencyLimit({ places, besideOthers, others }: Places) {
  /** Only keys that have something in hand. */
  const takenBy = new Map<string, number>();
  let takenByAll = 0;
  return { enter };

  /** Takes a place. Returns what leaves it, or `undefined` where all of the key's places are taken. */
  function enter(key: string): (() => void) | undefined {
    const taken = takenBy.get(key) ?? 0;
    if (taken >= (takenByAll - taken < others ? places : besideOthers)) return undefined;
    takenBy.set(key, taken + 1);
    takenByAll += 1;
    return function leave() {
      takenByAll -= 1;
      const left = (takenBy.get(key) ?? 1) - 1;
      if (left > 0) takenBy.set(key, left);
      else takenBy.delete(key);
    };
  }
}
