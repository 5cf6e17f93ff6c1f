import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/** A call of an AWS service, named as in IAM policies. */
export interface AwsCall {
  /** `dynamodb:PutItem` */
  readonly action: string;
  /** `table`, `index`, `queue`, `topic` or `key`. */
  readonly resourceType: string;
}

const resourceTypes: Readonly<Record<string, string>> = { dynamodb: 'table', sqs: 'queue', sns: 'topic', kms: 'key' };

/** The actions of IAM by operations, where they have other names. */
const actions: Readonly<Record<string, string>> = {
  BatchExecuteStatement: 'PartiQLInsert', // it only inserts here
  SendMessageBatch: 'SendMessage',
  DeleteMessageBatch: 'DeleteMessage',
  ChangeMessageVisibilityBatch: 'ChangeMessageVisibility',
};

/** The failed call of each error; an entry lives as long as its error. */
const failedCalls = new WeakMap<object, AwsCall>();

/**
 * A logger for SDK clients that writes nothing and only records which call failed. The error itself does not say that, and
 * its message must not be logged: it names people, addresses and keys.
 */
export const failureRecorder: Logger = {
  error: entry => record(entry as FailedCall),
  warn: nothing,
  debug: nothing,
  // The SDK copies and filters the input and the output of each call that succeeds, if there is anything to log them.
  info: undefined as never,
};

/** Returns the AWS call that failed with this error, if any. */
export function failedCall(error: object): AwsCall | undefined {
  return failedCalls.get(error);
}

function record({ clientName, commandName, input, error }: FailedCall): void {
  if (typeof error !== 'object' || error === null || !clientName || !commandName) return;
  const service = clientName.replace(/Client$/, '').toLowerCase();
  const operation = commandName.replace(/Command$/, '');
  const isIndex = typeof input === 'object' && input !== null && 'IndexName' in input && input.IndexName !== undefined;
  failedCalls.set(error, {
    action: `${service}:${actions[operation] ?? operation}`,
    resourceType: isIndex ? 'index' : (resourceTypes[service] ?? 'resource'),
  });
}

/** The SDK's own type of a logger. */
type Logger = NonNullable<DynamoDBClientConfig['logger']>;

/** The SDK's log entry of a failed call. */
interface FailedCall {
  readonly clientName?: string;
  readonly commandName?: string;
  readonly input?: unknown;
  readonly error?: unknown;
}

function nothing(): void {}
