import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy, { type MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import { type HttpRequest, type HttpResponse, isRefusal } from './http.ts';
import { describeError, type Telemetry } from './telemetry.ts';

/**
 * Creates the handler of a function: it knows its invocation in the log, says why it failed, and writes out its metrics. Events hold passwords, tokens,
 * secrets or business data: they are never logged, whatever the environment asks for.
 *
 * @param checkItself - runs before the version gets traffic. By default the version only has to start, with all that its environment sets.
 */
export function makeHandler<Event, Result>(
  { log, beginInvocation, metrics }: Telemetry,
  run: (event: Event, context: Context) => Promise<Result>,
  checkItself: () => Promise<unknown> = async () => {},
) {
  // An invocation that times out ends with its process: an early answer would leave its work to whenever Lambda thaws that.
  return middy<Event, Result | undefined>({ timeoutEarlyInMillis: 0 })
    .use({ before: ({ event, context }) => beginInvocation(context, requestIdOf(event)) })
    .use({ onError: ({ error }) => log.error('invocation.failed', describeError(error)) })
    .use(logMetrics(metrics))
    .handler(async (event, context) => {
      if (!isSelfCheck(event)) return run(event, context);
      await checkItself();
      return undefined;
    });
}

/** The event of a self-check. No event source sends one of this form. */
export const selfCheckEvent = { selfCheck: true };

/** Creates the handler of a function behind an HTTP API. */
export function makeHttpHandler<Request = HttpRequest, Response extends HttpResponse | undefined = HttpResponse>(
  telemetry: Telemetry & { readonly service: HttpService },
  answer: (request: Request) => Promise<Response>,
  checkItself?: () => Promise<unknown>,
) {
  return makeHandler<Request, Response>(telemetry, answer, checkItself).use(countFailures(telemetry));
}

/** The functions behind the APIs, by the names under which they count their answers: the release of one watches those. */
export type HttpService = 'token' | 'revoke' | 'introspect' | 'discovery' | 'webhooks' | 'history';

function isSelfCheck(event: unknown): boolean {
  return (event as Partial<typeof selfCheckEvent> | null)?.selfCheck === true;
}

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
