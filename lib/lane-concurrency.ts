/** The number of batches that each lane processes at once. Each lane is a bulkhead. */
export type LaneConcurrency = Readonly<Record<keyof typeof laneShares, number>>;

/**
 * Returns the concurrency of a stage's lanes. Each lane has a share of the account's concurrency, so that receivers that hang leave
 * the rest for logins and the API.
 */
export function laneConcurrency(accountConcurrency: number): LaneConcurrency {
  const limited = (share: number, most = maxConcurrency) =>
    Math.min(Math.max(Math.floor((accountConcurrency * share) / 100), minConcurrency), most);
  const { firstConcurrency, retryConcurrency, slowConcurrency } = laneShares;
  return {
    firstConcurrency: limited(firstConcurrency),
    retryConcurrency: limited(retryConcurrency),
    slowConcurrency: limited(slowConcurrency, maxSlowConcurrency),
  };
}

/** The minimum and maximum concurrency of an SQS event source. */
const [minConcurrency, maxConcurrency] = [2, 1_000];

/** Each process of the slow lane may make two attempts of a slow webhook, which is 120 in all, the limit of one webhook. */
const maxSlowConcurrency = 60;

/** Percentages of the account's concurrency. */
const laneShares = { firstConcurrency: 5, retryConcurrency: 2, slowConcurrency: 2 };
