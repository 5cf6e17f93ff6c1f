/** Returns a number in [0, 1). The same seed results in the same numbers (mulberry32). */
export type Random = () => number;

export function makeRandom(seed: number): Random {
  let state = seed >>> 0;
  return function random() {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a random element of a non-empty list. */
export function pick<Value>(values: readonly Value[], random: Random): Value {
  return values[Math.floor(random() * values.length)] as Value;
}

/** Returns the values in random order. */
export function shuffled<Value>(values: readonly Value[], random: Random): Value[] {
  const keyed = values.map(value => ({ value, key: random() }));
  return keyed.sort((one, other) => one.key - other.key).map(({ value }) => value);
}
