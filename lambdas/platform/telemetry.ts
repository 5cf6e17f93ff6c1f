import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { failedCall } from './aws/failed-call.ts';
import { stackFrames } from './stack-frames.ts';

/** The logger and metrics of a function. */
export type Telemetry = ReturnType<typeof makeTelemetry>;

/**
 * Structured logs (one JSON line each) and metrics (CloudWatch embedded metric format) of one function.
 * Neither is ever given a request's or a message's body: what is logged is named field by field.
 */
export function makeTelemetry(serviceName: string) {
  const logger = new Logger({ serviceName });
  const metrics = new Metrics({ serviceName, logger: quiet }); // its namespace, one per stage, is in the environment
  const log: Log = logger;
  return { logger, metrics, log, count };

  /** Adds one, or another number, to a metric; the middleware of the handler writes it out. */
  function count(metric: string, by = 1): void {
    metrics.addMetric(metric, MetricUnit.Count, by);
  }
}

/** The part of the logger that code below the handlers gets. */
export type Log = Pick<Logger, 'info' | 'warn' | 'error'>;

/** The facts of an error that are safe to log. */
export type ErrorDescription = {
  readonly errorName: string;
  /** The system's code, such as `ECONNREFUSED`. */
  readonly errorCode?: string;
  /** The AWS call and its kind of resource: `dynamodb:PutItem`, `table`. */
  readonly action?: string;
  readonly resourceType?: string;
  /** The status and request id of AWS's answer, and the number of tries. */
  readonly httpStatus?: number;
  readonly awsRequestId?: string;
  readonly tries?: number;
  readonly at?: readonly string[];
};

/**
 * Describes an error for the log: its name, the AWS call that failed, and where it was thrown. The message is left out, since
 * it may quote what was being processed.
 */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { errorName: typeof error };
  const { code, $metadata } = error as { code?: unknown; $metadata?: ResponseMetadata };
  const { httpStatusCode, requestId, attempts } = $metadata ?? {};
  return {
    errorName: error.name,
    ...(isSystemCode(code) ? { errorCode: code } : {}),
    ...failedCall(error),
    ...(httpStatusCode === undefined ? {} : { httpStatus: httpStatusCode }),
    ...(requestId === undefined ? {} : { awsRequestId: requestId }),
    ...(attempts === undefined ? {} : { tries: attempts }),
    at: stackFrames(error),
  };
}

/** Invocations without metrics are ordinary: Metrics would warn of each. */
const quiet = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: console.error };

function nothing(): void {}

/** The SDK's metadata of an answer. */
interface ResponseMetadata {
  readonly httpStatusCode?: number;
  readonly requestId?: string;
  readonly attempts?: number;
}

function isSystemCode(code: unknown): code is string {
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,39}$/.test(code);
}
