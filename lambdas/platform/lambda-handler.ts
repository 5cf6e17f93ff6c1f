import type { Metrics } from '@aws-lambda-powertools/metrics';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy, { type MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import type { HttpRequest, HttpResponse } from './http.ts';
import type { Telemetry } from './telemetry.ts';

/**
 * Makes the handler of a function: it knows its invocation in the log, and writes out its metrics. Events hold passwords, tokens,
 * secrets or business data: they are never logged, whatever the environment asks for.
 */
export function makeHandler<Event, Result>(
  { beginInvocation, metrics }: Telemetry,
  run: (event: Event, context: Context) => Promise<Result>,
) {
  return middy<Event, Result>()
    .use({ before: ({ context }) => beginInvocation(context) })
    .use(logMetrics(metrics))
    .handler(run);
}

/** Makes the handler of a function behind an HTTP API. */
export function makeHttpHandler<Request = HttpRequest, Response extends HttpResponse | undefined = HttpResponse>(
  telemetry: Telemetry,
  answer: (request: Request) => Promise<Response>,
) {
  return makeHandler<Request, Response>(telemetry, answer).use(countServerErrors(telemetry.metrics));
}

/**
 * Counts the answers with status 500 by the function's version, so that a release can be told from the one before it while both
 * answer requests. An exception that the function answers itself is no error to Lambda.
 */
function countServerErrors(metrics: Metrics): MiddlewareObj<unknown, HttpResponse | undefined> {
  return {
    after: ({ response, context }) => {
      if (response?.statusCode !== 500) return;
      const single = metrics.singleMetric();
      single.addDimension('version', context.functionVersion);
      single.addMetric('ServerError', 'Count', 1);
    },
  };
}
