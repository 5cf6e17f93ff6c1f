import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { type AwsCall, failedCall } from './aws/failed-call.ts';
import { systemClock } from './clock.ts';
import { type Log, makeLog } from './log.ts';

export type Telemetry = ReturnType<typeof makeTelemetry>;

/**
 * Structured logs (one JSON line each) and metrics (CloudWatch embedded metric format) of one function.
 * Neither is ever given a request's or a message's body: what is logged is named field by field.
 *
 * @param countedAs - the service of the metrics. Functions that share one have one metric of each name, which alarms watch.
 */
export function makeTelemetry<Service extends string>(
  serviceName: Service,
  countedAs: string = serviceName,
  now = systemClock,
) {
  const { log: written, beginInvocation } = makeLog(serviceName, now);
  const log: Log = { ...written, warn: countingThrottles(written.warn), error: countingThrottles(written.error) };
  const metrics = new Metrics({ serviceName: countedAs, logger: quiet }); // its namespace, one per stage, is in the environment
  return { service: serviceName, log, beginInvocation, metrics, count, measure };

  /** Adds one, or another number, to a metric; the middleware of the handler writes it out. */
  function count(metric: string, by = 1): void {
    metrics.addMetric(metric, MetricUnit.Count, by);
  }

  /** Adds a span of time, in milliseconds, to a metric. */
  function measure(metric: string, milliseconds: number): void {
    metrics.addMetric(metric, MetricUnit.Milliseconds, milliseconds);
  }

  /**
   * A store that throttles fails in many ways. Each line that tells of one counts, whatever the function: an alarm watches them
   * together. A throttled call that succeeded when it was repeated is in no line.
   */
  function countingThrottles(write: Log['error']): Log['error'] {
    return function writeAndCount(message, fields) {
      write(message, fields);
      const { throttled, cause } = (fields ?? {}) as Partial<ErrorDescription>;
      if (throttled === undefined && cause?.throttled === undefined) return;
      const metric = metrics.singleMetric();
      metric.clearDefaultDimensions();
      metric.addDimension('store', 'dynamodb');
      metric.addMetric('StoreThrottled', MetricUnit.Count, 1);
    };
  }
}

export type { Log } from './log.ts';

/** The facts of an error that are safe to log. */
export type ErrorDescription = Partial<AwsCall> & {
  readonly errorName: string;
  /** The system's code, such as `ECONNREFUSED`. */
  readonly errorCode?: string;
  /** The status and request id of AWS's answer, and the number of tries. */
  readonly httpStatus?: number;
  readonly awsRequestId?: string;
  readonly tries?: number;
  readonly at?: readonly string[];
  /** The same of the error that caused it, and of that one's cause. */
  readonly cause?: ErrorDescription;
};

/**
 * Describes an error for the log: its name, the AWS call that failed, where it was thrown, and its cause. The message is left out, since
 * it may quote what was being processed.
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

/** Returns where an error was thrown. Its message, which the stack quotes, is left out: its lines may look like frames. */
function framesOf({ stack = '', message }: Error): readonly string[] {
  const start = stack.indexOf(message);
  const lines = stack.slice(start === -1 ? 0 : start + message.length).split('\n');
  return lines
    .filter(line => /^ +at (?:.* \()?(?:file:\/\/|node:|\/)[^()]*:\d+:\d+\)?$/.test(line))
    .map(line => line.trim());
}

/** Causes of causes that are described; a chain may lead back to its beginning. */
const maxCauses = 2;

/** Invocations without metrics are ordinary: Metrics would warn of each. */
const quiet = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: console.error };

function nothing(): void {}

interface ResponseMetadata {
  readonly httpStatusCode?: number;
  readonly requestId?: string;
  readonly attempts?: number;
}

function isSystemCode(code: unknown): code is string {
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,39}$/.test(code);
}
