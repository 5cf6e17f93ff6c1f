/** What things take, in milliseconds. */
export interface Costs {
  /** The share of a core that a process has. The costs of processor time are those on a whole core. */
  readonly coreShare: number;
  /** Processor time of a call: made, signed, its answer read. */
  readonly call: number;
  /** Processor time of each further entry of a call that is made for several. */
  readonly entry: number;
  /** Processor time of a timer that fires. */
  readonly timer: number;
  /** Processor time of a message that an event source hands over. */
  readonly message: number;
  /** The time until a call's answer is there, by `service:Operation`, named as the SDK's command, or by service for all others. */
  readonly latency: Readonly<Record<string, number>>;
  /** From a batch's leaving its queue, or a caller's asking, until the function has it. */
  readonly invoke: number;
  /** Until a new process has loaded its code. */
  readonly coldStart: number;
}

/** Guesses for functions of 1,024 MB within one Region. */
export const defaultCosts: Costs = {
  coreShare: 1_024 / 1_769, // Lambda allots a whole core at 1,769 MB
  call: 0.85,
  entry: 0.05,
  timer: 0.02,
  message: 0.2,
  latency: {
    dynamodb: 7,
    'dynamodb:Get': 5,
    'dynamodb:BatchGet': 5,
    'dynamodb:Query': 5,
    'dynamodb:TransactWrite': 14, // it prepares, then commits
    sqs: 10,
    kms: 10,
    sns: 20,
  },
  invoke: 20,
  coldStart: 400,
};
