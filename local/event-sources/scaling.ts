/** Batches that an event source may have under way at once: few at first, more while messages remain. */
export interface Scaling {
  /** How many there are now. */
  readonly count: number;
  /**
   * Tells of a receipt.
   *
   * @param underWay - batches, with the one received
   * @param isFull - whether the batch is, which means that messages remain
   */
  received(underWay: number, isFull: boolean): void;
  /** Milliseconds until there may be one more; `undefined` when there are as many as there can be. */
  untilMore(): number | undefined;
  addOne(): void;
}

/**
 * Makes the places of an event source, as Lambda scales its pollers for SQS: from five, or `most` where that is less, by
 * five a second. Once a receipt has emptied the queue, only as many are kept as are in use.
 */
export function makeScaling(most: number, now: () => number = () => performance.now()): Scaling {
  const least = Math.min(leastPlaces, most);
  let count = least;
  let since = now();
  return {
    get count() {
      return count;
    },
    received: (underWay, isFull) => {
      const isBurst = underWay === 1;
      if (isFull && !isBurst) return;
      count = Math.max(least, Math.min(count, underWay));
      since = now();
    },
    untilMore: () => (count < most ? Math.max(0, since + growthPause - now()) : undefined),
    addOne: () => {
      count += 1;
      since = now();
    },
  };
}

/** What Lambda begins with. */
const leastPlaces = 5;

/** Milliseconds between two more places: Lambda adds up to 300 a minute. */
const growthPause = 200;
