import { defaultCosts } from '@emissor/cloud/virtual';

/**
 * The CPU costs of delivery, in addition to the costs of processes and calls in the virtual cloud. They model CPU time on Lambda. They amount to
 * about 3 ms for a delivery (1.9 ms in batches of ten, 3.75 ms alone), and 3.85 ms for a move, which makes one read and four calls.
 */

/** The share of a core that a function with 1,024 MB gets. */
export const { coreShare } = defaultCosts;

/** The cost by kind of work, in milliseconds of CPU time on a whole core. */
export const cpuCosts = {
  /** The cost of a call to a table or a queue, which includes signing the request and reading the response. */
  call: defaultCosts.call,
  /** The cost of receiving and parsing a message. */
  message: defaultCosts.message,
  /** The cost of reading the three items of a message and logging the outcome. */
  read: 0.4,
  /** The cost of an attempt, which includes the URL and address checks, the signature, TLS, and the response. */
  attempt: 1.5,
} as const;
