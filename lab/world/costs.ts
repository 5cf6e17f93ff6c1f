import { defaultCosts } from '@emissor/cloud/virtual';

/*
 * The costs of delivery's own work, beside those of a process and its calls that the virtual cloud has. They decide nothing: they
 * are the time that decisions take on AWS. They follow `docs/performance.md`: about 3 ms for a delivery (1.9 in batches of ten,
 * 3.75 alone), 3.85 for a move of a read and four calls.
 */

/** The share of a core that a function of 1,024 MB has. */
export const { coreShare } = defaultCosts;

/** Milliseconds of processor time on a whole core. */
export const workOf = {
  /** A call to a table or a queue: made, signed, its answer read. */
  call: defaultCosts.call,
  /** A message received and parsed. */
  message: defaultCosts.message,
  /** Its three items read, and what became of it logged. */
  read: 0.4,
  /** An attempt: URL and address judged, body signed, TLS, the answer read. */
  attempt: 1.5,
} as const;
