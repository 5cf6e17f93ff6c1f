import { expect, it } from 'vitest';
import { makeThrottle, readThrottles } from '../../../src/local/http-api/throttle.ts';
import { liveResource } from '../live-resource.ts';

it('a burst passes, then as many as the rate allows', () => {
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

const inAuth = { stack: 'App-local-Auth', logicalId: 'AuthResource' };
const settings = (ThrottlingRateLimit: number, ThrottlingBurstLimit: number) => ({
  ThrottlingRateLimit,
  ThrottlingBurstLimit,
});
/** A stage with a default, and with settings of a route. */
const stage = (DefaultRouteSettings?: object, ofRoute?: object, ApiId = 'auth') =>
  liveResource('AWS::ApiGatewayV2::Stage', {
    ApiId,
    StageName: '$default',
    DefaultRouteSettings,
    ...(ofRoute && { RouteSettings: { 'ANY /a': ofRoute } }),
  });
/** A custom resource that sets the throttle of a route. */
const limit = (RouteKey: string, properties: object = { RateLimit: 2, BurstLimit: 1 }) =>
  liveResource('Custom::RouteThrottle', { ApiId: 'auth', RouteKey, ...properties }, inAuth);

const [usual, low] = [settings(7, 3), settings(2, 1)];

it.each([
  ['a stage without settings has the limits of the account', [stage()], 'ANY /a', 10_000, 5_000],
  ['the default of a stage holds for each route', [stage(usual)], 'ANY /a', 7, 3],
  ['a value that a default lacks is the account’s', [stage({ ThrottlingRateLimit: 7 })], 'ANY /a', 7, 5_000],
  ['settings of a route take the place of the default', [stage(usual, low)], 'ANY /a', 2, 1],
  ['and inherit nothing of it', [stage(usual, { ThrottlingBurstLimit: 1 })], 'ANY /a', 10_000, 1],
  ['other routes keep the default', [stage(usual, low)], '$default', 7, 3],
  ['an update sets the throttle of a route', [stage(usual), limit('$default')], '$default', 2, 1],
  [
    'the settings of another API do not matter',
    [stage(usual), stage(settings(1, 1), undefined, 'base')],
    '$default',
    7,
    3,
  ],
])('%s', (_case, resources, routeKey, rate, burst) => {
  expect(readThrottles(resources)('auth', routeKey)).toEqual({ rate, burst });
});

it('refuses a resource whose settings it cannot read', () => {
  expect(() => readThrottles([limit('$default', { RateLimit: 'many' })])).toThrow(
    'App-local-Auth/AuthResource (Custom::RouteThrottle): RateLimit',
  );
});
