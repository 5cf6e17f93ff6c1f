import { describe, expect, it } from 'vitest';
import { apiRoutes } from '../../lambdas/api/routes.ts';
import { authRoutes } from '../../lambdas/auth/routes.ts';
import { deliveryRoutes } from '../../lambdas/delivery/api/routes.ts';
import type { Route } from '../../lambdas/platform/route-table.ts';
import { webhookRoutes } from '../../lambdas/webhooks/routes.ts';
import { authDomain, baseDomain, type Resource, resourcesOf, stageTemplates } from './templates.ts';

type Template = ReturnType<typeof stageTemplates>['Data'];

const stacks = ['Auth', 'Webhooks', 'Delivery'] as const;

const templates = stageTemplates('prod');

/** The routes of a stack: key, and logical id. */
const routesOf = (template: Template): ReadonlyMap<string, string> =>
  new Map(resourcesOf(template, 'AWS::ApiGatewayV2::Route').map(([id, { Properties }]) => [Properties.RouteKey, id]));

/** The limits of each route of an API (rate/burst), by its key: the settings of its stage, or else the default. */
const limitsOf = (api: 'Auth' | 'Base', all = templates): Readonly<Record<string, string>> => {
  const isOf = ({ Properties }: Resource) => JSON.stringify(Properties.ApiId).includes(`${api}Endpoint`);
  const [stage] = stacks
    .flatMap(stack => resourcesOf(all[stack], 'AWS::ApiGatewayV2::Stage'))
    .filter(([, one]) => isOf(one));
  const { DefaultRouteSettings, RouteSettings } = stage?.[1].Properties ?? {};
  const keys = stacks
    .flatMap(stack => resourcesOf(all[stack], 'AWS::ApiGatewayV2::Route'))
    .filter(([, one]) => isOf(one))
    .map(([, { Properties }]): string => Properties.RouteKey);
  return Object.fromEntries(
    keys.map(key => {
      const { ThrottlingRateLimit, ThrottlingBurstLimit } = RouteSettings[key] ?? DefaultRouteSettings;
      return [key, `${ThrottlingRateLimit}/${ThrottlingBurstLimit}`];
    }),
  );
};

const [token, auth, management, open] = ['300/150', '100/40', '50/25', '20/15'];

describe('every route', () => {
  it('has a throttle of its own, by who asks it', () => {
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
});

describe('the stage of an API', () => {
  // AWS refuses settings of a route that does not exist, and CloudFormation removes no settings: only routes that stay for good have some.
  it.each([
    [
      'Auth',
      ['$default', 'ANY /.well-known/jwks.json', 'ANY /.well-known/oauth-authorization-server', 'ANY /oauth/v1/token'],
    ],
    ['Webhooks', ['$default', 'ANY /.well-known/oauth-protected-resource']],
  ] as const)('is in stack %s, after the routes that have settings', (stack, keys) => {
    const [[, { Properties, DependsOn }] = ['', {} as never]] = resourcesOf(
      templates[stack],
      'AWS::ApiGatewayV2::Stage',
    );
    expect(Object.keys(Properties.RouteSettings).sort()).toEqual([...keys].sort());
    const routes = routesOf(templates[stack]);
    for (const key of keys) expect(DependsOn).toContain(routes.get(key));
  });

  it('has the custom domain in its stack', () => {
    const { Auth, Webhooks } = stageTemplates('prod', { ...authDomain, ...baseDomain });
    for (const template of [Auth, Webhooks]) {
      const [[, mapping] = []] = resourcesOf(template, 'AWS::ApiGatewayV2::ApiMapping');
      const [[stageId] = []] = resourcesOf(template, 'AWS::ApiGatewayV2::Stage');
      expect(mapping?.DependsOn).toContain(stageId);
    }
  });
});

describe('every path of a table of routes', () => {
  it.each([
    ['Auth', authRoutes],
    ['Webhooks', { ...webhookRoutes, ...apiRoutes }],
    ['Delivery', deliveryRoutes],
  ] as const)('is a route of %s, whose functions answer it', (stack, table) => {
    const paths = Object.values<Route>(table).map(({ path }) => `ANY ${path}`);
    const others = stack === 'Delivery' ? [] : ['$default'];
    expect([...routesOf(templates[stack]).keys()]).toEqual([...paths, ...others]);
  });
});

describe('all routes together', () => {
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html: 2,500 requests a second and 1,250 at once.
  it('take at most half of what an account may, in the Regions where that is least', () => {
    const limits = (['Auth', 'Base'] as const).flatMap(api =>
      Object.values(limitsOf(api)).map(text => text.split('/').map(Number)),
    );
    const sum = (at: 0 | 1) => limits.reduce((total, limit) => total + (limit[at] ?? 0), 0);
    expect(limits).toHaveLength(18);
    expect(sum(0)).toBeLessThanOrEqual(1_250);
    expect(sum(1)).toBeLessThanOrEqual(625);
  });

  it('are not limited in the local run, which is no part of an account', () => {
    expect(new Set(Object.values(limitsOf('Auth', stageTemplates('local'))))).toEqual(new Set(['10000/5000']));
  });
});
