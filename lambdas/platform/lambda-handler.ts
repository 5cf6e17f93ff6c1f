import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy, { type MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import { type HttpRequest, type HttpResponse, isRefusal } from './http.ts';
import { describeError, type Telemetry } from './telemetry.ts';

/**
 * Makes the handler of a function: it knows its invocation in the log, says why it failed, and writes out its metrics. Events hold passwords, tokens,
 * secrets or business data: they are never logged, whatever the environment asks for.
 */
export function makeHandler<Event, Result>(
  { log, beginInvocation, metrics }: Telemetry,
  run: (event: Event, context: Context) => Promise<Result>,
) {
  // An invocation that times out ends with its process: an early answer would leave its work to whenever Lambda thaws that.
  return middy<Event, Result>({ timeoutEarlyInMillis: 0 })
    .use({ before: ({ event, context }) => beginInvocation(context, requestIdOf(event)) })
    .use({ onError: ({ error }) => log.error('invocation.failed', describeError(error)) })
    .use(logMetrics(metrics))
    .handler(run);
}

/** Creates the handler of a function behind an HTTP API. */
export function makeHttpHandler<Request = HttpRequest, Response extends HttpResponse | undefined = HttpResponse>(
  telemetry: Telemetry & { readonly service: HttpService },
  answer: (request: Request) => Promise<Response>,
) {
  return makeHandler<Request, Response>(telemetry, answer).use(countFailures(telemetry));
}

/** The functions behind the APIs, by the names under which they count their answers: the release of one watches those. */
export type HttpService = 'token' | 'revoke' | 'introspect' | 'discovery' | 'webhooks' | 'history';

/** Returns the gateway's id of a request; other events have none. */
function requestIdOf(event: unknown): string | undefined {
  return (event as Partial<HttpRequest> | null)?.requestContext?.requestId;
}

/**
 * Counts the answers with status 500 and 503 for a fault of ours, which are no errors to Lambda: by service, and of all services together, which an
 * alarm watches. Those with 500 also count by the function's version, so that a release can be told from the one before it while
 * both answer requests.
 */
function countFailures({ service, metrics }: Telemetry): MiddlewareObj<unknown, HttpResponse | undefined> {
  return {
    after: ({ response, context }) => {
      const status = response?.statusCode ?? 0;
      if (status < 500 || response?.[isRefusal]) return;
      const failed = metrics.singleMetric();
      failed.clearDefaultDimensions();
      failed.addDimension('service', service);
      failed.addDimensions({ functions: 'http' });
      failed.addMetric('RequestFailed', 'Count', 1);
      if (status !== 500) return;
      const ofVersion = metrics.singleMetric();
      ofVersion.addDimension('version', context.functionVersion);
      ofVersion.addMetric('ServerError', 'Count', 1);
    },
  };
}
