/** The batches that each lane processes at once: a bulkhead for each. */
export type LanePlaces = Readonly<Record<keyof typeof laneShares, number>>;

/**
 * Returns the concurrency of the lanes of a stage. Each is a part of the account's concurrency: receivers that hang leave the rest to
 * logins and the API.
 */
export function lanePlaces(accountConcurrency: number): LanePlaces {
  const places = (share: number, most = maxPlaces) =>
    Math.min(Math.max(Math.floor((accountConcurrency * share) / 100), minPlaces), most);
  const { firstConcurrency, retryConcurrency, slowConcurrency } = laneShares;
  return {
    firstConcurrency: places(firstConcurrency),
    retryConcurrency: places(retryConcurrency),
    slowConcurrency: places(slowConcurrency, maxSlowPlaces),
  };
}

/** The fewest and the most batches at once that an SQS event source takes. */
const [minPlaces, maxPlaces] = [2, 1_000];

/** Each process of the slow lane may make two attempts of a slow webhook: together as many as it may have in flight. */
const maxSlowPlaces = 60;

/** Hundredths of the account's concurrency. */
const laneShares = { firstConcurrency: 5, retryConcurrency: 2, slowConcurrency: 2 };
