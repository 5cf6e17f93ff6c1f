/*
 * The costs of a function's work, in milliseconds. They decide nothing: they are the time that the decisions of
 * `lambdas/delivery` take on AWS.
 *
 * The calls are guesses within one Region: a consistent read of a few items 5, a write of one item 7, a message sent or
 * hidden, or a receive that is not empty, 10.
 *
 * Processor time follows `docs/performance.md`, on a whole core: about 3 for a delivery (1.9 in batches of ten, 3.75 alone),
 * 3.85 for a move of a read and four calls. A function of 1,024 MB has 0.58 of a core (Lambda allots a whole one at 1,769 MB).
 */

/** The time that calls take until their answer is there. */
export const latency = {
  read: 5,
  write: 7,
  send: 10,
  receive: 10,
  /** From a batch's leaving its queue until the function has it: the poller's receive, and the invocation. */
  invoke: 20,
} as const;

/** Processor time on a whole core. */
export const processorTime = {
  /** A call to a table or a queue: made, signed, its answer read. */
  call: 0.85,
  /** A message received and parsed. */
  message: 0.2,
  /** Its three items read, and what became of it logged. */
  read: 0.4,
  /** A message's part in a call that is made for ten. */
  entry: 0.05,
  /** An attempt: URL and address judged, body signed, TLS, the answer read. */
  attempt: 1.5,
  /** A timer that fires. */
  timer: 0.02,
} as const;

/** The share of a core that a function of 1,024 MB has. */
export const coreShare = 1_024 / 1_769;

/**
 * Until a process that the event source adds has loaded its code: its first batch waits for that. The processes of the first
 * places are warm, as in a stage that is in use: a cold start of these delays others with and without an attack.
 */
export const coldStart = 400;
