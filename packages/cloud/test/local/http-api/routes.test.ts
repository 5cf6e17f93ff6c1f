import { expect, it } from 'vitest';
import { makeRouteTable, makeThrottle, routesOf } from '../../../src/local/http-api/routes.ts';
import { liveResource } from '../live-resource.ts';

const keys = ['$default', 'ANY /v1/{x}/entregas/{id}', 'ANY /v1/{x}', 'ANY /v1', 'ANY /v1/fixed', 'ANY /.well-known/a'];

it.each([
  ['/v1', 'ANY /v1'],
  ['/v1/demanda.criada', 'ANY /v1/{x}'],
  ['/v1/fixed', 'ANY /v1/fixed'], // literal segments precede parameters
  ['/v1/a/entregas/b', 'ANY /v1/{x}/entregas/{id}'],
  ['/.well-known/a', 'ANY /.well-known/a'],
  ['/xwell-known/a', '$default'],
  ['/v1/', '$default'],
  ['/V1', '$default'],
  ['/v1/a/entregas', '$default'],
  ['/v1/a/entregas/b/c', '$default'],
])('matches %s to the route %s', (path, routeKey) => {
  expect(makeRouteTable(keys.map(key => ({ routeKey: key })))(path)).toEqual({ routeKey });
});

it('finds no route for other paths if an API has no $default', () => {
  expect(makeRouteTable([{ routeKey: 'ANY /a' }])('/b')).toBeUndefined();
});

it('accepts a burst, then requests at the sustained rate', () => {
  let now = 0;
  const throttle = makeThrottle({ rate: 2, burst: 3 }, () => now);
  const pass = (count: number) => Array.from({ length: count }, throttle);
  expect(pass(4)).toEqual([true, true, true, false]);
  now = 499;
  expect(throttle()).toBe(false);
  now = 500;
  expect(pass(2)).toEqual([true, false]);
  now = 60_000;
  expect(pass(4)).toEqual([true, true, true, false]);
});

const own = { ThrottlingRateLimit: 2, ThrottlingBurstLimit: 1 };

const routes = (RouteKey: string, limits: object = own) =>
  routesOf([
    liveResource('AWS::ApiGatewayV2::Stage', {
      ApiId: 'auth',
      StageName: '$default',
      DefaultRouteSettings: { ThrottlingRateLimit: 7, ThrottlingBurstLimit: 3 },
      RouteSettings: { 'ANY /a': limits },
    }),
    liveResource('AWS::ApiGatewayV2::Integration', {
      IntegrationType: 'AWS_PROXY',
      PayloadFormatVersion: '2.0',
      IntegrationUri: 'arn:aws:lambda:us-east-1:000000000000:function:Token:live',
    }),
    liveResource('AWS::ApiGatewayV2::Route', { ApiId: 'auth', RouteKey, Target: 'integrations/App-Thing' }),
  ]);

it.each([
  ['ANY /a', { rate: 2, burst: 1 }],
  ['$default', { rate: 7, burst: 3 }],
])('returns the throttle of the route %s or the default of its stage: %j', (routeKey, throttle) => {
  expect(routes(routeKey)).toEqual([{ apiId: 'auth', routeKey, functionName: 'Token', throttle }]);
});

it.each([
  ['GET /a', own, 'only $default and paths for any method are supported locally'],
  ['ANY /{proxy+}', own, 'only $default and paths for any method are supported locally'],
  ['ANY /a', { ThrottlingRateLimit: 'many' }, 'App-Thing (AWS::ApiGatewayV2::Stage): RouteSettings.ANY /a'],
])('rejects the route %s with the throttle %j', (routeKey, limits, reason) => {
  expect(() => routes(routeKey, limits)).toThrow(reason);
});
