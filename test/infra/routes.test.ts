import { describe, expect, it } from 'vitest';
import { apiRoutes } from '../../lambdas/api/routes.ts';
import { authRoutes } from '../../lambdas/auth/routes.ts';
import { deliveryRoutes } from '../../lambdas/delivery/api/routes.ts';
import type { Route } from '../../lambdas/platform/route-table.ts';
import { webhookRoutes } from '../../lambdas/webhooks/routes.ts';
import { authDomain, baseDomain, propertiesOf, resolveIntrinsics, resourcesOf, stageTemplates } from './templates.ts';

// Every path is a route with its own token bucket (docs/capacity.md). The functions check the HTTP method.

const templates = stageTemplates('prod');
/** Returns the logical ids of a stack's routes, by route key. */
const routesOf = (stack: 'Auth' | 'Webhooks' | 'Delivery'): ReadonlyMap<string, string> =>
  new Map(
    resourcesOf(templates[stack], 'AWS::ApiGatewayV2::Route').map(([id, { Properties }]) => [Properties.RouteKey, id]),
  );

/** Returns the limits of an API's routes as "RATE/BURST", with the rate in requests a second. */
const limitsOf = (api: 'Auth' | 'Base', from = templates): Readonly<Record<string, string>> => {
  const inApi = (type: string) =>
    resourcesOf(from, type)
      .map(([, { Properties }]) => Properties)
      .filter(({ ApiId }) => resolveIntrinsics(ApiId) === `${api}EndpointApi`);
  const [{ DefaultRouteSettings, RouteSettings }] = inApi('AWS::ApiGatewayV2::Stage');
  return Object.fromEntries(
    inApi('AWS::ApiGatewayV2::Route').map(({ RouteKey }) => {
      const { ThrottlingRateLimit, ThrottlingBurstLimit } = RouteSettings[RouteKey] ?? DefaultRouteSettings;
      return [RouteKey, `${ThrottlingRateLimit}/${ThrottlingBurstLimit}`];
    }),
  );
};

describe('every route', () => {
  it('has the limits of its throttle class', () => {
    const [token, auth, management, open] = ['300/150', '100/40', '50/25', '20/15'];
    expect(limitsOf('Auth')).toEqual({
      'ANY /oauth/v1/token': token,
      'ANY /oauth/v1/revoke': auth,
      'ANY /oauth/v1/introspect': auth,
      'ANY /.well-known/jwks.json': open,
      'ANY /.well-known/oauth-authorization-server': open,
      $default: open,
    });
    expect(limitsOf('Base')).toEqual({
      'ANY /v1/webhooks': management,
      'ANY /v1/webhooks/{evento}': management,
      'ANY /v1/webhooks/{evento}/segredo': management,
      'ANY /v1/webhooks/{evento}/reativacao': management,
      'ANY /v1/webhooks/{evento}/teste': management,
      'ANY /v1/webhooks/{evento}/entregas': management,
      'ANY /v1/webhooks/{evento}/entregas/{id}': management,
      'ANY /v1/webhooks/{evento}/entregas/{id}/reenvio': management,
      'ANY /v1/webhooks/{evento}/reenvios': management,
      'ANY /v1/webhooks/{evento}/reenvios/{id}': management,
      'ANY /.well-known/oauth-protected-resource': open,
      $default: open,
    });
  });

  // The lowest quota is 2,500 requests a second and a burst of 1,250 (https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html).
  it('uses, together with all other routes, at most half of the lowest regional quota of an account', () => {
    const limits = [...Object.values(limitsOf('Auth')), ...Object.values(limitsOf('Base'))];
    const sum = (at: 0 | 1) => limits.reduce((total, limit) => total + Number(limit.split('/')[at]), 0);
    expect(sum(0)).toBeLessThanOrEqual(1_250);
    expect(sum(1)).toBeLessThanOrEqual(625);
  });

  it('has very high limits in a local run, which has no account quota', () => {
    expect(new Set(Object.values(limitsOf('Auth', stageTemplates('local'))))).toEqual(new Set(['10000/5000']));
  });

  it.each([
    ['Auth', authRoutes],
    ['Webhooks', { ...webhookRoutes, ...apiRoutes }],
    ['Delivery', deliveryRoutes],
  ] as const)('is in stack %s if a function of that stack handles its path', (stack, table) => {
    const paths = Object.values<Route>(table).map(({ path }) => `ANY ${path}`);
    expect([...routesOf(stack).keys()]).toEqual([...paths, ...(stack === 'Delivery' ? [] : ['$default'])]);
  });

  // API Gateway rejects different variable names at the same level (409, "conflicting variable"). A greedy variable matches all levels.
  it('uses the same variable name as other routes at the same level', () => {
    const names = new Map<string, string>();
    for (const key of [...routesOf('Webhooks').keys(), ...routesOf('Delivery').keys()]) {
      const segments = key.split('/');
      for (const [at, segment] of segments.entries()) {
        if (!segment.startsWith('{')) continue;
        const level = segments.slice(0, at).join('/');
        expect(segment, key).toBe(names.get(level) ?? segment);
        expect(segment, key).not.toContain('+');
        names.set(level, segment);
      }
    }
  });

  it('uses payload format 2.0, which preserves the bytes of forms', () => {
    const integrations = Object.values(propertiesOf(templates, 'AWS::ApiGatewayV2::Integration'));
    expect(new Set(integrations.map(({ PayloadFormatVersion }) => PayloadFormatVersion))).toEqual(new Set(['2.0']));
  });
});

describe('the stage of an API', () => {
  // AWS rejects settings for a missing route, and CloudFormation does not remove settings. Only permanent routes may have settings.
  it.each([
    [
      'Auth',
      ['$default', 'ANY /.well-known/jwks.json', 'ANY /.well-known/oauth-authorization-server', 'ANY /oauth/v1/token'],
    ],
    ['Webhooks', ['$default', 'ANY /.well-known/oauth-protected-resource']],
  ] as const)('is in stack %s, depends on routes with settings, and logs no headers or queries', (stack, keys) => {
    const stages = resourcesOf(templates[stack], 'AWS::ApiGatewayV2::Stage');
    expect(stages).toHaveLength(1);
    for (const [, { Properties, DependsOn }] of stages) {
      expect(Object.keys(Properties.RouteSettings).sort()).toEqual([...keys].sort());
      for (const key of keys) expect(DependsOn).toContain(routesOf(stack).get(key));
      expect(resolveIntrinsics(Properties.AccessLogSettings.DestinationArn)).toMatch(/EndpointAccessLogs\.Arn$/);
      expect(Properties.AccessLogSettings.Format).not.toMatch(/header|querystring|authorizer/i);
    }
  });

  it('is created before its domain mapping, and the gateway host of the API stays enabled', () => {
    const { Data, Auth, Webhooks } = stageTemplates('prod', { ...authDomain, ...baseDomain });
    for (const template of [Auth, Webhooks]) {
      const [[, mapping] = []] = resourcesOf(template, 'AWS::ApiGatewayV2::ApiMapping');
      const [[stageId] = []] = resourcesOf(template, 'AWS::ApiGatewayV2::Stage');
      expect(mapping?.DependsOn).toContain(stageId);
    }
    const domains = Object.values(propertiesOf(Data, 'AWS::ApiGatewayV2::DomainName'));
    expect(domains.map(({ DomainName }) => DomainName)).toEqual(['auth.emissor.com.br', 'api.emissor.com.br']);
    const apis = Object.values(propertiesOf(Data, 'AWS::ApiGatewayV2::Api'));
    expect(apis.map(({ DisableExecuteApiEndpoint = false }) => DisableExecuteApiEndpoint)).toEqual([false, false]);
  });
});
