/**
 * What a local run cannot tell. A function's time here is not its time on AWS: billed is taken to be the wait for the receiver
 * and a processing time, both of which are stated, not measured.
 */
export const assumptions = {
  /** Milliseconds after which a receiver answers. */
  receiverMs: 200,
  /** Milliseconds of an invocation beyond the receiver. */
  processingMs: { login: 90, refresh: 40, quiet: 60, busy: 90, exhausted: 60, registration: 40, test: 60 },
  /** Bytes that CloudWatch Logs adds to each line. */
  perLineBytes: 26,
} as const;
