import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { failedCall } from './aws-call.ts';
import { stackFrames } from './stack-frames.ts';

/** The two things every function says about itself. */
export interface Telemetry {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Structured logs (one JSON line each) and metrics (CloudWatch embedded metric format) of one function.
 * Neither is ever given a request's or a message's body: what is logged is named field by field.
 */
export function makeTelemetry(serviceName: string): Telemetry {
  return {
    logger: new Logger({ serviceName }),
    metrics: new Metrics({ serviceName, logger: quiet }), // its namespace, one per stage, is in the environment
  };
}

/** The narrow part of the logger that units below the handlers are given. */
export type Log = Pick<Logger, 'info' | 'warn' | 'error'>;

/** What can be safely said of an error. */
export type ErrorDescription = {
  readonly errorName: string;
  /** The system's code, such as `ECONNREFUSED`. */
  readonly errorCode?: string;
  /** What was asked of AWS, and of what kind of resource: `dynamodb:PutItem`, `table`. */
  readonly action?: string;
  readonly resourceType?: string;
  /** What AWS answered, under which id of its own, after how many tries. */
  readonly httpStatus?: number;
  readonly awsRequestId?: string;
  readonly tries?: number;
  readonly at?: readonly string[];
};

/**
 * Describes an error for the log: what it is, which call of AWS it answers, and where it was thrown. Its message stays
 * out, since it may quote what was being processed.
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

/** Requests that count nothing are ordinary: Metrics would warn of each of them. */
const quiet = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: console.error };

function nothing(): void {}

/** What the SDK says of the answer to a call. */
interface ResponseMetadata {
  readonly httpStatusCode?: number;
  readonly requestId?: string;
  readonly attempts?: number;
}

function isSystemCode(code: unknown): code is string {
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,39}$/.test(code);
}
