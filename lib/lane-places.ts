/** The number of batches that each lane processes at once. Each lane is a bulkhead. */
export type LanePlaces = Readonly<Record<keyof typeof laneShares, number>>;

/**
 * Returns the concurrency of a stage's lanes. Each lane has a share of the account's concurrency, so that hanging receivers leave
 * the rest to logins and the API.
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

/** The minimum and maximum concurrency of an SQS event source. */
const [minPlaces, maxPlaces] = [2, 1_000];

/** Each process of the slow lane may make two attempts of a slow webhook: 120 in all, the limit of one webhook. */
const maxSlowPlaces = 60;

/** Percentages of the account's concurrency. */
const laneShares = { firstConcurrency: 5, retryConcurrency: 2, slowConcurrency: 2 };
