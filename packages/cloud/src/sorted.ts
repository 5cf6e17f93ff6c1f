/** Returns the index of the first for which a test is true; it is true of all after it. The length where there is none. */
export function firstWhere<Each>(sorted: readonly Each[], isReached: (each: Each) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const { [middle]: each } = sorted;
    if (each !== undefined && isReached(each)) high = middle;
    else low = middle + 1;
  }
  return low;
}
