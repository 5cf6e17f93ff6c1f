/** A call of an AWS service, as its permissions name it. */
export interface AwsCall {
  /** `dynamodb:PutItem` */
  readonly action: string;
  /** The kind of what it was about: `table`, `index`, `queue`, `topic`, `key`. */
  readonly resourceType: string;
}

const resourceTypes: Readonly<Record<string, string>> = { dynamodb: 'table', sqs: 'queue', sns: 'topic', kms: 'key' };

/** By error; an entry lives as long as its error. */
const failedCalls = new WeakMap<object, AwsCall>();

/**
 * The SDK's logger, which only remembers what failed: AWS's own message names people, addresses and keys, the error says
 * nothing else of the call. Nothing is written here.
 */
export const callMemory = {
  error: (said: unknown): void => remember(said as FailedCall),
  warn: nothing,
  info: nothing,
  debug: nothing,
};

/** The call of AWS that failed with this error, where it was one. */
export function failedCall(error: object): AwsCall | undefined {
  return failedCalls.get(error);
}

function remember({ clientName, commandName, input, error }: FailedCall): void {
  if (typeof error !== 'object' || error === null || !clientName || !commandName) return;
  const service = clientName.replace(/Client$/, '').toLowerCase();
  const operation = commandName.replace(/Command$/, '');
  const isIndex = typeof input === 'object' && input !== null && 'IndexName' in input && input.IndexName !== undefined;
  failedCalls.set(error, {
    action: `${service}:${service === 'sqs' ? operation.replace(/Batch$/, '') : operation}`, // IAM has no batches of SQS
    resourceType: isIndex ? 'index' : (resourceTypes[service] ?? 'resource'),
  });
}

/** What the SDK tells its logger of a call that failed. */
interface FailedCall {
  readonly clientName?: string;
  readonly commandName?: string;
  readonly input?: unknown;
  readonly error?: unknown;
}

function nothing(): void {}
