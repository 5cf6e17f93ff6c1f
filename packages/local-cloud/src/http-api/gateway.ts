import { setTimeout as wait } from 'node:timers/promises';
import type { Invoke } from '../lambda/invocation.ts';
import { type ApiAddress, makeEvent } from './event.ts';
import { gatewayMessage, makeResponse } from './response.ts';
import type { FindRoute } from './routes.ts';
import type { RequestHandler } from './server.ts';
import type { Throttle } from './throttle.ts';

/** Makes an HTTP API: routing, throttling, and the function's answer, or the gateway's own where there is none. */
export function makeGateway({
  address,
  findRoute,
  onAnswered,
}: {
  readonly address: ApiAddress;
  readonly findRoute: FindRoute<RouteTarget>;
  /** Receives each answered request: method, path (never the query, which may hold secrets), status, milliseconds. */
  readonly onAnswered: (method: string, path: string, status: number, milliseconds: number) => void;
}): RequestHandler {
  const answer: RequestHandler = async request => {
    const route = findRoute(request.method, request.path);
    if (!route) return gatewayMessage(404, 'Not Found');
    const { invoke, timeoutMilliseconds, throttle } = route.target;
    if (!throttle()) return gatewayMessage(429, 'Too Many Requests');
    const timer = new AbortController();
    const invoked = invoke(JSON.stringify(makeEvent(request, route, address))).then(makeResponse);
    const late = wait(timeoutMilliseconds, timedOut, { signal: timer.signal });
    late.catch(() => undefined);
    const response = await Promise.race([invoked, late]);
    timer.abort();
    return response;
  };

  return async function gateway(request) {
    const response = await answer(request);
    onAnswered(request.method, request.path, response.status, Date.now() - request.receivedAt);
    return response;
  };
}

/** The function that a route leads to, and the throttle of the route. */
interface RouteTarget {
  readonly invoke: Invoke;
  readonly timeoutMilliseconds: number;
  readonly throttle: Throttle;
}

/** API Gateway's answer when a function takes longer than the integration's timeout. */
const timedOut = gatewayMessage(503, 'Service Unavailable');
