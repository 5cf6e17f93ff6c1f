import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy, { type MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import { type HttpRequest, type HttpResponse, isRefusal } from './http.ts';
import { describeError, type Telemetry } from './telemetry.ts';

/**
 * Creates the handler of a function. It adds the invocation to log lines, logs errors and writes metrics. It never logs events, because
 * they contain passwords, tokens, secrets or business data.
 *
 * @param checkItself - runs before the version receives traffic. By default, the version only has to start with its environment.
 */
export function makeHandler<Event, Result>(
  { log, startInvocation, metrics }: Telemetry,
  run: (event: Event, context: Context) => Promise<Result>,
  checkItself: () => Promise<unknown> = async () => {},
) {
  // No early response on timeout: the unfinished work would continue when Lambda thaws the process.
  return middy<Event, Result | undefined>({ timeoutEarlyInMillis: 0 })
    .use({ before: ({ event, context }) => startInvocation(context, requestIdOf(event)) })
    .use({ onError: ({ error }) => log.error('invocation.failed', describeError(error)) })
    .use(logMetrics(metrics))
    .handler(async (event, context) => {
      if (!isSelfCheck(event)) return run(event, context);
      await checkItself();
      return undefined;
    });
}

/** The event of a self-check. Event sources never send this form. */
export const selfCheckEvent = { selfCheck: true };

/** Creates the handler of a function behind an HTTP API. */
export function makeHttpHandler<Request = HttpRequest, Response extends HttpResponse | undefined = HttpResponse>(
  telemetry: Telemetry & { readonly service: HttpService },
  answer: (request: Request) => Promise<Response>,
  checkItself?: () => Promise<unknown>,
) {
  return makeHandler<Request, Response>(telemetry, answer, checkItself).use(countFailures(telemetry));
}

/** The functions behind the APIs, by their `service` metric dimension. The release of each function watches its metrics. */
export type HttpService = 'token' | 'revoke' | 'introspect' | 'discovery' | 'webhooks' | 'history';

function isSelfCheck(event: unknown): boolean {
  return (event as Partial<typeof selfCheckEvent> | null)?.selfCheck === true;
}

/** Returns the gateway's id of a request, or `undefined` for other events. */
function requestIdOf(event: unknown): string | undefined {
  return (event as Partial<HttpRequest> | null)?.requestContext?.requestId;
}

/**
 * Counts responses with status 500 or 503 that service faults caused, because Lambda does not count these as errors. It counts them per
 * service, and in total for an alarm. Responses with 500 are also counted per function version, to distinguish a release from the
 * previous one while both handle requests.
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
