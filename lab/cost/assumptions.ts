/**
 * What a local run cannot tell. A function's time here is not its time on AWS: what is billed is computed from the processor time
 * that `docs/performance.md` reports, and from stated times of what a function waits for.
 */
export const assumptions = {
  /** Milliseconds after which a receiver answers. */
  receiverMs: 200,
  /** Milliseconds of one call to the store. All calls of an invocation are taken to be made one after the other. */
  storeCallMs: 5,
  /** Processor milliseconds of one invocation on the machine of the benchmark. A busy one has ten deliveries. */
  processorMs: {
    login: 30,
    refresh: 3,
    quiet: 6,
    busy: 11,
    exhausted: 6,
    exhaustedEmpty: 6,
    registration: 6,
    test: 6,
    withoutWebhook: 6,
  },
  /** The factor by which AWS's processor is taken to need longer. Nobody measured it. */
  timesSlower: 1.5,
  /** Megabytes of memory with which a function gets one whole processor. */
  processorMegabytes: 1_769,
  /** Bytes that CloudWatch Logs adds to each line. */
  perLineBytes: 26,
} as const;
