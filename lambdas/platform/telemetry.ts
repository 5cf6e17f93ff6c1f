import { type AwsCall, failedCall } from './aws/failed-call.ts';
import { systemClock } from './clock.ts';
import { type Log, makeLog } from './log.ts';
import { makeMetrics } from './metrics.ts';

export type Telemetry = ReturnType<typeof makeTelemetry>;

/**
 * Creates the log (one JSON object per line) and the metrics (CloudWatch embedded metric format) of a function. They must not contain the
 * body of a request or a message, so callers pass each logged field explicitly.
 *
 * @param countedAs - the `service` dimension of the metrics. Functions with the same `service` share their metrics.
 */
export function makeTelemetry<Service extends string>(
  serviceName: Service,
  countedAs: string = serviceName,
  now = systemClock,
) {
  const { log: written, startInvocation } = makeLog(serviceName, now);
  const log: Log = { ...written, warn: countingThrottles(written.warn), error: countingThrottles(written.error) };
  const metrics = makeMetrics(countedAs, now);
  return { service: serviceName, log, startInvocation, metrics, count, measure };

  /** Adds to a metric, which the handler's middleware writes. */
  function count(metric: string, by = 1): void {
    metrics.add(metric, 'Count', by);
  }

  /** Adds a duration in milliseconds to a metric. */
  function measure(metric: string, milliseconds: number): void {
    metrics.add(metric, 'Milliseconds', milliseconds);
  }

  /**
   * Counts each log line about a throttled call in a metric that all functions share, for an alarm. A throttled call that succeeds on retry
   * is not logged.
   */
  function countingThrottles(write: Log['error']): Log['error'] {
    return function writeAndCount(message, fields) {
      write(message, fields);
      const { throttled, cause } = (fields ?? {}) as Partial<ErrorDescription>;
      if (throttled === undefined && cause?.throttled === undefined) return;
      metrics.countNow('StoreThrottled', { store: 'dynamodb' });
    };
  }
}

export type { Log } from './log.ts';

/** The parts of an error that are safe to log. */
export type ErrorDescription = Partial<AwsCall> & {
  readonly errorName: string;
  /** The system error code, such as `ECONNREFUSED`. */
  readonly errorCode?: string;
  /** The status of the AWS response. `awsRequestId` is its request id, and `tries` is the number of tries. */
  readonly httpStatus?: number;
  readonly awsRequestId?: string;
  readonly tries?: number;
  readonly at?: readonly string[];
  /** The description of the error's cause, which may also have a cause. */
  readonly cause?: ErrorDescription;
};

/**
 * Describes an error for the log. The description contains the name, the failed AWS call, the stack frames and the cause, but not the
 * message, which may quote processed data.
 */
export function describeError(error: unknown, causes = maxCauses): ErrorDescription {
  if (!(error instanceof Error)) return { errorName: typeof error };
  const { code, $metadata, cause } = error as { code?: unknown; $metadata?: ResponseMetadata; cause?: unknown };
  const { httpStatusCode, requestId, attempts } = $metadata ?? {};
  return {
    errorName: error.name,
    ...(isSystemCode(code) ? { errorCode: code } : {}),
    ...failedCall(error),
    ...(httpStatusCode === undefined ? {} : { httpStatus: httpStatusCode }),
    ...(requestId === undefined ? {} : { awsRequestId: requestId }),
    ...(attempts === undefined ? {} : { tries: attempts }),
    at: framesOf(error),
    ...(cause instanceof Error && causes > 0 ? { cause: describeError(cause, causes - 1) } : {}),
  };
}

/** Returns the stack frames of an error. Removes the message first, because lines of the message may resemble frames. */
function framesOf({ stack = '', message }: Error): readonly string[] {
  const start = stack.indexOf(message);
  const lines = stack.slice(start === -1 ? 0 : start + message.length).split('\n');
  return lines
    .filter(line => /^ +at (?:.* \()?(?:file:\/\/|node:|\/)[^()]*:\d+:\d+\)?$/.test(line))
    .map(line => line.trim());
}

/** The maximum depth of causes, which may be cyclic. */
const maxCauses = 2;

interface ResponseMetadata {
  readonly httpStatusCode?: number;
  readonly requestId?: string;
  readonly attempts?: number;
}

function isSystemCode(code: unknown): code is string {
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,39}$/.test(code);
}
