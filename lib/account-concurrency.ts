import type { StageValues } from './stage-values.ts';

/**
 * The concurrent executions of an account that cannot be reserved:
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
 */
export const unreservedConcurrency = 100;

/** The minimum concurrency that the lanes leave to functions without a reservation: 1 for the sweeper and 1 for a request. */
export const minOtherLanes = 2;

/**
 * Returns the reserved concurrency of the receiver of smoke tests, so that a flood of requests to its URL cannot affect the service.
 * Returns `undefined` if the stage has no receiver, or if its account has too little concurrency (a new one has 10).
 */
export function receiverConcurrency(values: StageValues): number | undefined {
  const hasRoom = values.accountConcurrency >= reservedConcurrency(values) + unreservedConcurrency;
  return values.smokeReceiverUrl === undefined && hasRoom ? receiverReservation : undefined;
}

/** Returns the sum of a stage's reservations. The receiver of smoke tests counts if the stage has one. */
export function reservedConcurrency({ tokenConcurrency, smokeReceiverUrl }: StageValues): number {
  return tokenConcurrency + (smokeReceiverUrl === undefined ? receiverReservation : 0);
}

/** Enough for all tests that run at once. Each test sends one event, and the receiver responds in milliseconds. */
const receiverReservation = 2;
