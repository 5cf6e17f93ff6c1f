import { expect, it } from 'vitest';
import type { LiveResource } from '../../src/assembly/resources.ts';
import { makeThrottle, readThrottles } from '../../src/http-api/throttle.ts';

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

const resource = (stack: string, type: LiveResource['type'], properties: object): LiveResource => ({
  stack: `App-local-${stack}`,
  logicalId: `${stack}Resource`,
  type,
  properties: { ...properties },
});
const route = (stack: string, RouteKey: string, ApiId = 'auth') =>
  resource(stack, 'AWS::ApiGatewayV2::Route', { ApiId, RouteKey });
const stage = (stack: string, settings: object, ApiId = 'auth') =>
  resource(stack, 'AWS::ApiGatewayV2::Stage', { ApiId, StageName: '$default', ...settings });
const settings = (ThrottlingRateLimit: number, ThrottlingBurstLimit: number) => ({
  ThrottlingRateLimit,
  ThrottlingBurstLimit,
});
/** As the CDK's `AwsCustomResource` writes a call that sets the throttle of a route. */
const limit = (stack: string, routeSettings: object, changes: object = {}) =>
  resource(stack, 'Custom::RouteThrottle', {
    Create: JSON.stringify({
      service: 'ApiGatewayV2',
      action: 'updateStage',
      parameters: { ApiId: 'auth', StageName: '$default', RouteSettings: routeSettings, ...changes },
    }),
  });

const unthrottled = { rate: 10_000, burst: 5_000 };

it.each([
  ['a stage without settings has the limits of the account', [stage('Data', {})], 'ANY /a', unthrottled],
  [
    'the default of a stage holds for each route',
    [stage('Data', { DefaultRouteSettings: settings(7, 3) })],
    'ANY /a',
    { rate: 7, burst: 3 },
  ],
  [
    'of a default that gives only one value, the other is the account’s',
    [stage('Data', { DefaultRouteSettings: { ThrottlingRateLimit: 7 } })],
    'ANY /a',
    { rate: 7, burst: 5_000 },
  ],
  [
    'settings of a route take the place of the default',
    [
      route('Auth', 'ANY /a'),
      stage('Auth', { DefaultRouteSettings: settings(7, 3), RouteSettings: { 'ANY /a': settings(2, 1) } }),
    ],
    'ANY /a',
    { rate: 2, burst: 1 },
  ],
  [
    'and inherit nothing of it',
    [
      route('Auth', 'ANY /a'),
      stage('Auth', { DefaultRouteSettings: settings(7, 3), RouteSettings: { 'ANY /a': { ThrottlingBurstLimit: 1 } } }),
    ],
    'ANY /a',
    { rate: 10_000, burst: 1 },
  ],
  [
    'other routes keep the default',
    [
      route('Auth', 'ANY /a'),
      stage('Auth', { DefaultRouteSettings: settings(7, 3), RouteSettings: { 'ANY /a': settings(2, 1) } }),
    ],
    '$default',
    { rate: 7, burst: 3 },
  ],
  [
    'a later stack sets the throttle of its own route',
    [
      stage('Data', { DefaultRouteSettings: settings(7, 3) }),
      route('Auth', '$default'),
      limit('Auth', { $default: settings(2, 1) }),
    ],
    '$default',
    { rate: 2, burst: 1 },
  ],
  [
    'the settings of another API do not matter',
    [
      stage('Data', { DefaultRouteSettings: settings(7, 3) }),
      stage('Data', { DefaultRouteSettings: settings(1, 1) }, 'base'),
    ],
    '$default',
    { rate: 7, burst: 3 },
  ],
])('%s', (_case, resources, routeKey, expected) => {
  expect(readThrottles(resources)('auth', routeKey)).toEqual(expected);
});

// AWS answers "Unable to find Route by key … within the provided RouteSettings", and the deployment fails.
it.each([
  ['that does not exist', [stage('Data', { RouteSettings: { 'ANY /a': settings(2, 1) } })]],
  ['of another API', [route('Data', 'ANY /a', 'base'), stage('Data', { RouteSettings: { 'ANY /a': settings(2, 1) } })]],
  ['of a later stack', [stage('Data', { RouteSettings: { 'ANY /a': settings(2, 1) } }), route('Auth', 'ANY /a')]],
  ['that a later stack would set', [limit('Webhooks', { 'ANY /a': settings(2, 1) }), route('Delivery', 'ANY /a')]],
])('refuses settings of a route %s', (_case, resources) => {
  expect(() => readThrottles(resources)).toThrow('no route "ANY /a" yet, and AWS refuses its RouteSettings.');
});

it.each([
  ['calls another action', limit('Auth', {}, { StageName: 'other' })],
  ['is no call', resource('Auth', 'Custom::RouteThrottle', { Create: '{' })],
  ['has no call', resource('Auth', 'Custom::RouteThrottle', {})],
])('refuses a resource that %s', (_case, unreadable) => {
  expect(() => readThrottles([unreadable])).toThrow('App-local-Auth/AuthResource (Custom::RouteThrottle): Create');
});
