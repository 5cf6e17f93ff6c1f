import { setTimeout as wait } from 'node:timers/promises';
import type { Invoke } from '../lambda/invocation.ts';
import { type ApiAddress, makeEvent } from './event.ts';
import { gatewayMessage, makeResponse } from './response.ts';
import type { FindRoute } from './routes.ts';
import type { Answer } from './server.ts';
import type { Throttle } from './throttle.ts';

/** What an HTTP API is made of. */
export interface GatewayDependencies {
  readonly address: ApiAddress;
  readonly findRoute: FindRoute<Integration>;
  readonly throttle: Throttle;
  /** Told of every answered request: method, path (never the query, which may hold secrets), status, milliseconds. */
  readonly onAnswered: (method: string, path: string, status: number, milliseconds: number) => void;
}

/** Makes the HTTP API: throttling, routing, and the function's answer, or the gateway's own where there is none. */
export function makeGateway({ address, findRoute, throttle, onAnswered }: GatewayDependencies): Answer {
  const answer: Answer = async request => {
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

/** What a route leads to. */
interface Integration {
  readonly invoke: Invoke;
  readonly timeoutMilliseconds: number;
}

/** How API Gateway answers for a Lambda function that takes longer than the integration may. */
const timedOut = gatewayMessage(503, 'Service Unavailable');
