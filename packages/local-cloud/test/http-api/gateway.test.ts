import { expect, it } from 'vitest';
import { makeGateway } from '../../src/http-api/gateway.ts';
import { makeRouteTable } from '../../src/http-api/routes.ts';
import { makeThrottle } from '../../src/http-api/throttle.ts';

const invoke = async () => ({ outcome: 'returned', payload: '{"statusCode":200}' }) as const;

const gatewayWith = (routeKeys: readonly string[]) => {
  const routes = routeKeys.map(routeKey => ({
    routeKey,
    target: { invoke, timeoutMilliseconds: 1_000, throttle: makeThrottle({ rate: 1, burst: 5 }, () => 0) },
  }));
  const gateway = makeGateway({
    address: { apiId: 'x', host: '127.0.0.1:1' },
    findRoute: makeRouteTable(routes),
    onAnswered: () => undefined,
  });
  return async (path: string, count: number) => {
    const statuses: number[] = [];
    for (let sent = 0; sent < count; sent++) {
      const request = {
        requestId: 'x',
        method: 'POST',
        path,
        rawQueryString: '',
        protocol: 'HTTP/1.1',
        rawHeaders: [],
        receivedAt: 0,
      };
      statuses.push((await gateway({ ...request, body: Buffer.alloc(0), sourceIp: '127.0.0.1' })).status);
    }
    return statuses;
  };
};

it('what floods one route takes nothing from another', async () => {
  const send = gatewayWith(['ANY /oauth/v1/token', 'ANY /known', '$default']);
  expect(await send('/unknown', 7)).toEqual([200, 200, 200, 200, 200, 429, 429]);
  expect(await send('/known', 6)).toEqual([200, 200, 200, 200, 200, 429]);
  expect(await send('/oauth/v1/token', 6)).toEqual([200, 200, 200, 200, 200, 429]);
});

it('all paths that one route takes share its throttle', async () => {
  const send = gatewayWith(['ANY /v1/webhooks/{evento}', '$default']);
  expect(await send('/v1/webhooks/a', 4)).toEqual([200, 200, 200, 200]);
  expect(await send('/v1/webhooks/b', 2)).toEqual([200, 429]);
});

it('a path without a route is 404, however many ask for it', async () => {
  const send = gatewayWith(['ANY /known']);
  expect(new Set(await send('/unknown', 10))).toEqual(new Set([404]));
});
