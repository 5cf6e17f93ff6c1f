/** Durations, in milliseconds. */
export interface Costs {
  /** The share of a core that a process has. The costs in processor time are the costs on a whole core. */
  readonly coreShare: number;
  /** The processor time of a call, for creating and signing it, and reading its response. */
  readonly call: number;
  /** Processor time of each further entry of a batch call. */
  readonly entry: number;
  /** Processor time of a timer that fires. */
  readonly timer: number;
  /** Processor time of a message from an event source. */
  readonly message: number;
  /** The latency of a call, by `service:Operation` with the SDK's command name, or by service for other operations. */
  readonly latency: Readonly<Record<string, number>>;
  /** The time from a batch's receipt, or a caller's request, until the function starts. */
  readonly invoke: number;
  /** The time until a new process has loaded its code. */
  readonly coldStart: number;
}

/** Estimates for functions of 1,024 MB within one Region. */
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
    'dynamodb:TransactWrite': 14, // a transaction prepares, then commits
    sqs: 10,
    kms: 10,
    sns: 20,
  },
  invoke: 20,
  coldStart: 400,
};
