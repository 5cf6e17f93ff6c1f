import type { DynamoDBClientConfig, ThrottlingReason } from '@aws-sdk/client-dynamodb';

/** A call of an AWS service, named as in IAM policies. */
export interface AwsCall {
  /** `dynamodb:PutItem` */
  readonly action: string;
  /** `table`, `index`, `queue`, `topic` or `key`. */
  readonly resourceType: string;
  /** Of DynamoDB: the table, or all of a batch, and its index. Where DynamoDB says what it throttled, that. */
  readonly table?: string;
  readonly index?: string;
  /** Why DynamoDB throttled the call, in its own words: empty where it does not say. @default - it did not throttle it */
  readonly throttled?: readonly string[];
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

/** Notes which call failed with an error that is not the SDK's own. */
export function noteFailedCall(error: object, call: AwsCall): void {
  failedCalls.set(error, call);
}

/** Returns whether a dependency (DynamoDB, KMS, SQS) asked us to slow down: the caller may try again in a moment. */
export function isThrottled(error: unknown): boolean {
  return error instanceof Error && throttles.has(error.name);
}

const throttles: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'ThrottledException',
  'RequestLimitExceeded',
  'LimitExceededException',
  'RequestThrottled',
  'TooManyRequestsException', // Lambda's
  'UnprocessedKeysError',
  // of a statement of a batch
  'ProvisionedThroughputExceeded',
  'ThrottlingError',
]);

function record({ clientName, commandName, input, error }: FailedCall): void {
  if (typeof error !== 'object' || error === null || !clientName || !commandName) return;
  const service = clientName.replace(/Client$/, '').toLowerCase();
  const operation = commandName.replace(/Command$/, '');
  const place = service === 'dynamodb' ? placeOf(input ?? {}) : {};
  failedCalls.set(error, {
    action: `${service}:${actions[operation] ?? operation}`,
    resourceType: place.index === undefined ? (resourceTypes[service] ?? 'resource') : 'index',
    ...place,
    ...(service === 'dynamodb' && isThrottled(error) ? throttleOf(error) : {}),
  });
}

function placeOf({ TableName, IndexName, RequestItems, Statements }: DynamoInput): Pick<AwsCall, 'table' | 'index'> {
  const batch = Statements?.map(({ Statement }) => /^INSERT INTO "([^"]+)"/.exec(Statement)?.[1]) ?? [];
  const tables = [...new Set([TableName, ...Object.keys(RequestItems ?? {}), ...batch])].filter(
    name => name !== undefined,
  );
  return {
    ...(tables.length > 0 && { table: tables.join() }),
    ...(IndexName !== undefined && { index: IndexName }),
  };
}

/** Of a write, DynamoDB names the index that cannot follow; the call names the table only. */
function throttleOf(error: ThrottleError): Pick<AwsCall, 'table' | 'index' | 'throttled'> {
  const reasons = error.ThrottlingReasons ?? error.throttlingReasons ?? [];
  const [, table, index] = /:table\/([^/]+)(?:\/index\/(.+))?$/.exec(reasons[0]?.resource ?? '') ?? [];
  return {
    ...(table !== undefined && { table }),
    ...(index !== undefined && { index }),
    throttled: reasons.flatMap(({ reason }) => reason ?? []),
  };
}

/** The SDK's own type of a logger. */
type Logger = NonNullable<DynamoDBClientConfig['logger']>;

/** The SDK's log entry of a failed call. */
interface FailedCall {
  readonly clientName?: string;
  readonly commandName?: string;
  readonly input?: DynamoInput;
  readonly error?: unknown;
}

/** The parts of DynamoDB's inputs that say what they work on. */
interface DynamoInput {
  readonly TableName?: string;
  readonly IndexName?: string;
  readonly RequestItems?: object;
  readonly Statements?: readonly { readonly Statement: string }[];
}

/** DynamoDB's errors spell it in both ways. */
interface ThrottleError {
  readonly ThrottlingReasons?: readonly ThrottlingReason[];
  readonly throttlingReasons?: readonly ThrottlingReason[];
}

function nothing(): void {}
