import middy, { type MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import { type HttpRequest, type HttpResponse, isRejection } from './http.ts';
import { describeError, type Telemetry } from './telemetry.ts';

/**
 * Creates the handler of a function. The handler adds the invocation to log lines, logs errors and writes metrics. It never logs events,
 * because they contain passwords, tokens, secrets or business data.
 *
 * @param selfCheck - the self-check before the version receives traffic. @default - checks only that the function starts
 */
export function makeHandler<Event, Result>(
  { log, startInvocation, metrics }: Telemetry,
  run: (event: Event, context: Context) => Promise<Result>,
  selfCheck: () => Promise<unknown> = async () => {},
) {
  // An early response before the timeout is disabled, because unfinished work would continue when Lambda thaws the process.
  return middy<Event, Result | undefined>({ timeoutEarlyInMillis: 0 })
    .use({
      before: ({ event, context }) => startInvocation(context, requestIdOf(event)),
      after: metrics.flush,
      onError: ({ error }) => {
        log.error('invocation.failed', describeError(error));
        metrics.flush();
      },
    })
    .handler(async (event, context) => {
      if (!isSelfCheck(event)) return run(event, context);
      await selfCheck();
      return undefined;
    });
}

/** The event that requests a self-check. Event sources never send it. */
export const selfCheckEvent = { selfCheck: true };

/** Creates the handler of a function behind an HTTP API. */
export function makeHttpHandler<Request = HttpRequest, Response extends HttpResponse | undefined = HttpResponse>(
  telemetry: Telemetry & { readonly service: HttpService },
  respond: (request: Request) => Promise<Response>,
  selfCheck?: () => Promise<unknown>,
) {
  return makeHandler<Request, Response>(telemetry, respond, selfCheck).use(countFailures(telemetry));
}

/** The `service` metric dimensions of the functions behind the APIs. A release monitors the metrics of its function. */
export type HttpService = 'token' | 'revoke' | 'introspect' | 'discovery' | 'webhooks' | 'history';

function isSelfCheck(event: unknown): boolean {
  return (event as Partial<typeof selfCheckEvent> | null)?.selfCheck === true;
}

/** Returns the gateway's id of a request, or `undefined` for other events. */
function requestIdOf(event: unknown): string | undefined {
  return (event as Partial<HttpRequest> | null)?.requestContext?.requestId;
}

/**
 * Counts responses with status 500 or 503 that service faults caused, because Lambda does not count them as errors. Counts them per service,
 * and in total for an alarm. Also counts responses with status 500 per function version, to distinguish a release from the previous version
 * while both handle requests.
 */
function countFailures({ service, metrics }: Telemetry): MiddlewareObj<unknown, HttpResponse | undefined> {
  return {
    after: ({ response, context }) => {
      const status = response?.statusCode ?? 0;
      if (status < 500 || response?.[isRejection]) return;
      metrics.countNow('RequestFailed', { service }, { functions: 'http' });
      if (status === 500) metrics.countNow('ServerError', { service, version: context.functionVersion });
    },
  };
}
