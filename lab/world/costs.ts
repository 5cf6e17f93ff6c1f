import { defaultCosts } from '@emissor/cloud/virtual';

/**
 * The CPU costs of delivery's own work, in addition to those of a process and its calls in the virtual cloud. They only model time on AWS.
 * They follow `docs/performance.md`: about 3 ms for a delivery (1.9 in batches of ten, 3.75 alone), 3.85 for a move of a read and four
 * calls.
 */

/** The share of a core that a function of 1,024 MB has. */
export const { coreShare } = defaultCosts;

/** Milliseconds of CPU time on a whole core. */
export const workOf = {
  /** A call to a table or a queue, with building, signing, and reading the response. */
  call: defaultCosts.call,
  /** Receiving and parsing a message. */
  message: defaultCosts.message,
  /** Reading its three items, and logging the outcome. */
  read: 0.4,
  /** An attempt, with checking URL and address, signing the body, TLS, and reading the response. */
  attempt: 1.5,
} as const;
