import type { StageValues } from './stage-values.ts';

/**
 * The concurrent executions of an account that Lambda does not allow functions to reserve.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
 */
export const unreservedConcurrency = 100;

/** The concurrency that the lanes must leave for other functions without a reservation: 1 for the sweeper and 1 for a request. */
export const minOtherLanes = 2;

/**
 * Returns the reserved concurrency of the smoke-test receiver. The reservation limits the effect of a request flood on its URL.
 * Returns `undefined` if the stage has no receiver, or if the account has too little concurrency. A new account has 10.
 */
export function receiverConcurrency(values: StageValues): number | undefined {
  const hasCapacity = values.accountConcurrency >= reservedConcurrency(values) + unreservedConcurrency;
  return values.smokeReceiverUrl === undefined && hasCapacity ? receiverReservation : undefined;
}

/** Returns the sum of a stage's reservations, including the smoke-test receiver if the stage has one. */
export function reservedConcurrency({ tokenConcurrency, smokeReceiverUrl }: StageValues): number {
  return tokenConcurrency + (smokeReceiverUrl === undefined ? receiverReservation : 0);
}

/** Two executions are enough for all concurrent tests, because a test sends one event and the receiver responds in milliseconds. */
const receiverReservation = 2;
