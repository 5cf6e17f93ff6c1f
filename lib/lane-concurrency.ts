/** The number of batches that each lane processes at once. The lanes are bulkheads. */
export type LaneConcurrency = Readonly<Record<keyof typeof laneShares, number>>;

/**
 * Returns the concurrency of a stage's lanes. Each lane is limited to a share of the account's concurrency, so receivers that hang
 * do not block logins and the API.
 */
export function laneConcurrency(accountConcurrency: number): LaneConcurrency {
  const limited = (share: number, max = maxConcurrency) =>
    Math.min(Math.max(Math.floor((accountConcurrency * share) / 100), minConcurrency), max);
  const { firstConcurrency, retryConcurrency, slowConcurrency } = laneShares;
  return {
    firstConcurrency: limited(firstConcurrency),
    retryConcurrency: limited(retryConcurrency),
    slowConcurrency: limited(slowConcurrency, maxSlowConcurrency),
  };
}

/** The minimum and maximum concurrency of an SQS event source. */
const [minConcurrency, maxConcurrency] = [2, 1_000];

/** Each process of the slow lane may have two attempts for a slow webhook in flight. 60 processes reach the limit of 120 for one webhook. */
const maxSlowConcurrency = 60;

/** The lanes' shares of the account's concurrency, as percentages. */
const laneShares = { firstConcurrency: 5, retryConcurrency: 2, slowConcurrency: 2 };
