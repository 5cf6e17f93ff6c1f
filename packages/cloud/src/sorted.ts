/** Returns the index of the first element that passes a test, or the length of the list. All later elements must also pass the test. */
export function firstIndexWhere<Each>(sorted: readonly Each[], isReached: (each: Each) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const { [middle]: each } = sorted;
    if (each !== undefined && isReached(each)) high = middle;
    else low = middle + 1;
  }
  return low;
}
