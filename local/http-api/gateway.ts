import { setTimeout as wait } from 'node:timers/promises';
import type { Invoke } from '../lambda/invocation.ts';
import { type ApiAddress, makeEvent } from './event.ts';
import { gatewayMessage, makeResponse } from './response.ts';
import type { FindRoute } from './routes.ts';
import type { RequestHandler } from './server.ts';

/** Whether a request may pass now. A request that passes is counted. */
export type Throttle = () => boolean;

/** A stage's throttling: requests per second in the long run, and at once. */
export interface ThrottleSettings {
  readonly rate: number;
  readonly burst: number;
}

/** Makes an HTTP API: throttling, routing, and the function's answer, or the gateway's own where there is none. */
export function makeGateway({
  address,
  findRoute,
  throttle,
  onAnswered,
}: {
  readonly address: ApiAddress;
  readonly findRoute: FindRoute<Integration>;
  readonly throttle: Throttle;
  /** Receives each answered request: method, path (never the query, which may hold secrets), status, milliseconds. */
  readonly onAnswered: (method: string, path: string, status: number, milliseconds: number) => void;
}): RequestHandler {
  const answer: RequestHandler = async request => {
    if (!throttle()) return gatewayMessage(429, 'Too Many Requests');
    const route = findRoute(request.method, request.path);
    if (!route) return gatewayMessage(404, 'Not Found');
    const { invoke, timeoutMilliseconds } = route.target;
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

/** The token bucket of API Gateway: it holds `burst` tokens and gains `rate` a second. */
export function makeThrottle({ rate, burst }: ThrottleSettings, now: () => number): Throttle {
  let tokens = burst;
  let filledAt = now();
  return function throttle() {
    const moment = now();
    tokens = Math.min(burst, tokens + ((moment - filledAt) / 1000) * rate);
    filledAt = moment;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

/** What a route leads to. */
interface Integration {
  readonly invoke: Invoke;
  readonly timeoutMilliseconds: number;
}

/** API Gateway's answer when a function takes longer than the integration's timeout. */
const timedOut = gatewayMessage(503, 'Service Unavailable');
