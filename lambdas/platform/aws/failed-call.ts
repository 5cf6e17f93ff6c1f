import type { DynamoDBClientConfig, ThrottlingReason } from '@aws-sdk/client-dynamodb';

/** A call to an AWS service, in the terms of IAM policies. */
export interface AwsCall {
  /** The IAM action, such as `dynamodb:PutItem`. */
  readonly action: string;
  /** `table`, `index`, `queue`, `topic` or `key`. */
  readonly resourceType: string;
  /** For DynamoDB, the table (or all tables of a batch) and the index, or the throttled resource if DynamoDB returned it. */
  readonly table?: string;
  readonly index?: string;
  /** DynamoDB's reasons for throttling the call. The list may be empty. @default - the call was not throttled */
  readonly throttled?: readonly string[];
}

const resourceTypes: Readonly<Record<string, string>> = { dynamodb: 'table', sqs: 'queue', sns: 'topic', kms: 'key' };

/** The IAM actions that differ from the names of their operations. */
const actions: Readonly<Record<string, string>> = {
  BatchExecuteStatement: 'PartiQLInsert', // the functions send only INSERT statements
  SendMessageBatch: 'SendMessage',
  DeleteMessageBatch: 'DeleteMessage',
  ChangeMessageVisibilityBatch: 'ChangeMessageVisibility',
};

/** The failed call for each error. An entry lasts as long as its error. */
const failedCalls = new WeakMap<object, AwsCall>();

/**
 * A logger for SDK clients that records failed calls and writes no output. An SDK error does not identify its call, and its message must not
 * be logged, because it may contain personal data, addresses and keys.
 */
export const failureRecorder: Logger = {
  error: entry => record(entry as FailedCall),
  warn: noop,
  debug: noop,
  // With an `info` logger, the SDK would copy and filter the input and output of each successful call.
  info: undefined as never,
};

/** Returns the AWS call that failed with this error, if any. */
export function failedCall(error: object): AwsCall | undefined {
  return failedCalls.get(error);
}

/** Records the failed call for an error that the SDK did not create. */
export function recordFailedCall(error: object, call: AwsCall): void {
  failedCalls.set(error, call);
}

/** Returns whether a dependency (DynamoDB, KMS, SQS) throttled the call. The caller may retry later. */
export function isThrottled(error: unknown): boolean {
  return error instanceof Error && throttlingErrors.has(error.name);
}

const throttlingErrors: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'ThrottledException',
  'RequestLimitExceeded',
  'LimitExceededException',
  'RequestThrottled',
  'TooManyRequestsException', // Lambda's
  'UnprocessedKeysError',
  // error codes of batch statements
  'ProvisionedThroughputExceeded',
  'ThrottlingError',
]);

function record({ clientName, commandName, input, error }: FailedCall): void {
  if (typeof error !== 'object' || error === null || !clientName || !commandName) return;
  const service = clientName.replace(/Client$/, '').toLowerCase();
  const operation = commandName.replace(/Command$/, '');
  const resource = service === 'dynamodb' ? resourceOf(input ?? {}) : {};
  failedCalls.set(error, {
    action: `${service}:${actions[operation] ?? operation}`,
    resourceType: resource.index === undefined ? (resourceTypes[service] ?? 'resource') : 'index',
    ...resource,
    ...(service === 'dynamodb' && isThrottled(error) ? throttleOf(error) : {}),
  });
}

function resourceOf({ TableName, IndexName, RequestItems, Statements }: DynamoInput): Pick<AwsCall, 'table' | 'index'> {
  const batch = Statements?.map(({ Statement }) => /^INSERT INTO "([^"]+)"/.exec(Statement)?.[1]) ?? [];
  const tables = [...new Set([TableName, ...Object.keys(RequestItems ?? {}), ...batch])].filter(
    name => name !== undefined,
  );
  return {
    ...(tables.length > 0 && { table: tables.join() }),
    ...(IndexName !== undefined && { index: IndexName }),
  };
}

/** Returns the throttled resource. For a write to an index, only the error from DynamoDB contains the index. */
function throttleOf(error: ThrottleError): Pick<AwsCall, 'table' | 'index' | 'throttled'> {
  const reasons = error.ThrottlingReasons ?? error.throttlingReasons ?? [];
  const [, table, index] = /:table\/([^/]+)(?:\/index\/(.+))?$/.exec(reasons[0]?.resource ?? '') ?? [];
  return {
    ...(table !== undefined && { table }),
    ...(index !== undefined && { index }),
    throttled: reasons.flatMap(({ reason }) => reason ?? []),
  };
}

type Logger = NonNullable<DynamoDBClientConfig['logger']>;

/** The SDK's log entry for a failed call. */
interface FailedCall {
  readonly clientName?: string;
  readonly commandName?: string;
  readonly input?: DynamoInput;
  readonly error?: unknown;
}

/** The parts of DynamoDB inputs that contain the names of tables and indexes. */
interface DynamoInput {
  readonly TableName?: string;
  readonly IndexName?: string;
  readonly RequestItems?: object;
  readonly Statements?: readonly { readonly Statement: string }[];
}

/** DynamoDB errors use both spellings. */
interface ThrottleError {
  readonly ThrottlingReasons?: readonly ThrottlingReason[];
  readonly throttlingReasons?: readonly ThrottlingReason[];
}

function noop(): void {}
