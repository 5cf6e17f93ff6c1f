import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';

/** The two things every function says about itself. */
export interface Telemetry {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

const nothing = (): void => undefined;

/** Requests that count nothing are ordinary: Metrics would warn of each of them. */
const quiet = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: console.error };

/**
 * Structured logs (one JSON line each) and metrics (CloudWatch embedded metric format) of one function.
 * Neither is ever given a request's or a message's body: what is logged is named field by field.
 */
export const makeTelemetry = (serviceName: string): Telemetry => ({
  logger: new Logger({ serviceName }),
  metrics: new Metrics({ serviceName, logger: quiet }), // its namespace, one per stage, is in the environment
});

/** The narrow part of the logger that units below the handlers are given. */
export type Log = Pick<Logger, 'info' | 'warn' | 'error'>;

/**
 * What can be safely said of an error: its name and where it was thrown. Its message stays out, since it may quote what
 * was being processed.
 */
export const describeError = (error: unknown): { errorName: string; at?: readonly string[] } => {
  if (!(error instanceof Error)) return { errorName: typeof error };
  const frames = (error.stack ?? '').split('\n').filter(line => /^\s+at .*:\d+:\d+\)?$/.test(line));
  return { errorName: error.name, at: frames.slice(0, 5).map(frame => frame.trim()) };
};
