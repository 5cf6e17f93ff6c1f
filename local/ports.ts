/** Where the parts of a run listen; 0 takes any free port. */
export interface RunPorts {
  readonly auth: number;
  readonly base: number;
  readonly receiver: number;
  readonly sqs: number;
  readonly dynamoDb: number;
  /** Nothing listens here yet: it is kept for the console. */
  readonly console: number;
}

/** The last port that a run may begin with: five more follow it. */
export const lastFirstPort = 65_530;

/** The ports of a run that begins at `first`, one after the other; of 0, each part takes any free one. */
export function portsFrom(first: number): RunPorts {
  const at = (offset: number) => (first === 0 ? 0 : first + offset);
  return { auth: at(0), base: at(1), receiver: at(2), sqs: at(3), dynamoDb: at(4), console: at(5) };
}
