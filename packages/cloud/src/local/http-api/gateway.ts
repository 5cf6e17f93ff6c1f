import { setTimeout as wait } from 'node:timers/promises';
import type { Invoke } from '../lambda/invocation.ts';
import { type ApiAddress, type IncomingRequest, makeEvent } from './event.ts';
import { type GatewayResponse, gatewayMessage, makeResponse } from './response.ts';
import type { FindRoute } from './routes.ts';
import type { RequestHandler } from './server.ts';
import type { Throttle } from './throttle.ts';

export interface AnsweredRequest {
  readonly request: IncomingRequest;
  /** Without one no route fitted. */
  readonly routeKey: string | undefined;
  readonly response: GatewayResponse;
  /** The gateway's own message, where it answered by itself. */
  readonly error: string | undefined;
  readonly milliseconds: number;
}

/** Makes an HTTP API: routing, throttling, and the function's answer, or the gateway's own where there is none. */
export function makeGateway({
  address,
  findRoute,
  onAnswered,
}: {
  readonly address: ApiAddress;
  readonly findRoute: FindRoute<RouteTarget>;
  readonly onAnswered: (answered: AnsweredRequest) => void;
}): RequestHandler {
  const answer = async (
    request: IncomingRequest,
  ): Promise<Pick<AnsweredRequest, 'routeKey' | 'response' | 'error'>> => {
    const route = findRoute(request.method, request.path);
    if (!route) return own(undefined, 404, 'Not Found');
    const { routeKey, target } = route;
    const { invoke, timeoutMilliseconds, throttle } = target;
    if (!throttle()) return own(routeKey, 429, 'Too Many Requests');
    const timer = new AbortController();
    const invoked = invoke(JSON.stringify(makeEvent(request, route, address))).then(makeResponse);
    const late = wait(timeoutMilliseconds, undefined, { signal: timer.signal });
    late.catch(() => undefined);
    const response = await Promise.race([invoked, late]);
    timer.abort();
    return response ? { routeKey, response, error: undefined } : own(routeKey, 503, 'Service Unavailable');
  };

  return async function gateway(request) {
    const answered = await answer(request);
    onAnswered({ request, ...answered, milliseconds: Date.now() - request.receivedAt });
    return answered.response;
  };
}

/** The function that a route leads to, and the throttle of the route. */
interface RouteTarget {
  readonly invoke: Invoke;
  readonly timeoutMilliseconds: number;
  readonly throttle: Throttle;
}

/** Returns an answer of API Gateway itself; 503 where a function takes longer than the integration's timeout. */
function own(routeKey: string | undefined, status: number, error: string) {
  return { routeKey, response: gatewayMessage(status, error), error };
}
