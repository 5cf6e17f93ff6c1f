import type { StageValues } from './stage-values.ts';

/**
 * The concurrent executions of an account that Lambda lets nobody reserve:
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
 */
export const unreservedConcurrency = 100;

/** The fewest concurrent executions that the lanes leave to functions that reserve none: one for the sweeper, one for a request. */
export const minOtherLanes = 2;

/**
 * Returns the reserved concurrency of the receiver of smoke tests: a flood of requests to its URL then takes nothing from the
 * service. `undefined` where the stage has no receiver, or its account has no room: a new one has 10, and none can be reserved.
 */
export function receiverConcurrency(values: StageValues): number | undefined {
  const hasRoom = values.accountConcurrency >= reservedConcurrency(values) + unreservedConcurrency;
  return values.smokeReceiverUrl === undefined && hasRoom ? receiverReservation : undefined;
}

/** Returns what the functions of a stage reserve together. The receiver of smoke tests counts where the stage has one. */
export function reservedConcurrency({ tokenConcurrency, smokeReceiverUrl }: StageValues): number {
  return tokenConcurrency + (smokeReceiverUrl === undefined ? receiverReservation : 0);
}

/** Enough for all tests that run at once: each sends one event, which is answered in milliseconds. */
const receiverReservation = 2;
