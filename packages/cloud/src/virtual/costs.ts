/** The estimated durations of operations, in milliseconds. */
export interface Costs {
  /** The share of a core that a process has. All processor times below refer to a whole core. */
  readonly coreShare: number;
  /** The processor time of a call, including signing the request and parsing the response. */
  readonly call: number;
  /** The processor time of each further entry of a batch call. */
  readonly entry: number;
  /** The processor time of a timer that fires. */
  readonly timer: number;
  /** The processor time of a message from an event source. */
  readonly message: number;
  /** The latency of a call, by `service:Operation` or, for other operations, by service. */
  readonly latency: Readonly<Record<string, number>>;
  /** The time from the receipt of a batch or request until the function starts. */
  readonly invoke: number;
  /** The time that a new process takes to load its code. */
  readonly coldStart: number;
}

/** Estimates for functions of 1,024 MB within one Region. */
export const defaultCosts: Costs = {
  coreShare: 1_024 / 1_769, // Lambda allocates a whole core at 1,769 MB
  call: 0.85,
  entry: 0.05,
  timer: 0.02,
  message: 0.2,
  latency: {
    dynamodb: 7,
    'dynamodb:Get': 5,
    'dynamodb:BatchGet': 5,
    'dynamodb:Query': 5,
    'dynamodb:TransactWrite': 14, // a transaction has two phases: prepare and commit
    sqs: 10,
    kms: 10,
    sns: 20,
  },
  invoke: 20,
  coldStart: 400,
};
