import { describe, expect, it } from 'vitest';
import { apiRoutes } from '../../lambdas/api/routes.ts';
import { authRoutes } from '../../lambdas/auth/routes.ts';
import { deliveryRoutes } from '../../lambdas/delivery/api/routes.ts';
import type { Route } from '../../lambdas/platform/route-table.ts';
import { webhookRoutes } from '../../lambdas/webhooks/routes.ts';
import { resourcesOf, stageTemplates } from './templates.ts';

type Template = ReturnType<typeof stageTemplates>['Data'];

const stacks = ['Auth', 'Webhooks', 'Delivery'] as const;

const templates = stageTemplates('prod');

/** The routes of a stack: key, and logical id. */
const routesOf = (template: Template): ReadonlyMap<string, string> =>
  new Map(resourcesOf(template, 'AWS::ApiGatewayV2::Route').map(([id, { Properties }]) => [Properties.RouteKey, id]));

/** The throttles of a stack, in the order of the routes, with what each waits for, and the API that it is of. */
const throttlesOf = (template: Template) =>
  resourcesOf(template, 'Custom::RouteThrottle').map(([id, { Properties, DependsOn }]) => ({
    id,
    waitsFor: DependsOn ?? [],
    api: Properties.ApiId['Fn::ImportValue'].replace(/.*(Auth|Base)Endpoint.*/, '$1'),
    ...Properties,
  }));

const [token, auth, management, open] = ['300/150', '100/40', '50/25', '20/15'];

describe('every route', () => {
  it('has a throttle of its own, by who asks it', () => {
    const throttles = stacks.flatMap(stack => throttlesOf(templates[stack]));
    const byApi = (api: string) =>
      Object.fromEntries(
        throttles
          .filter(throttle => throttle.api === api)
          .map(({ RouteKey, RateLimit, BurstLimit }) => [RouteKey, `${RateLimit}/${BurstLimit}`]),
      );
    expect(byApi('Auth')).toEqual({
      'ANY /oauth/v1/token': token,
      'ANY /oauth/v1/revoke': auth,
      'ANY /oauth/v1/introspect': auth,
      'ANY /.well-known/jwks.json': open,
      'ANY /.well-known/oauth-authorization-server': open,
      $default: open,
    });
    expect(byApi('Base')).toEqual({
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

  it('which has none yet has no less than it needs: the stages come minutes before the routes', () => {
    for (const [id, { Properties }] of resourcesOf(templates.Data, 'AWS::ApiGatewayV2::Stage')) {
      expect(Properties.DefaultRouteSettings, id).toEqual({ ThrottlingRateLimit: 300, ThrottlingBurstLimit: 150 });
      expect(Properties, id).not.toHaveProperty('RouteSettings'); // AWS refuses those of a route of a later stack
    }
  });
});

describe.each(stacks)('the throttles of %s', stack => {
  const template = templates[stack];
  const throttles = throttlesOf(template);

  // AWS refuses settings of a route that is not there; each update changes the one stage; and settings of a route that is no
  // longer there keep the stage from being updated at all.
  it('come after all routes of the stack and after one another, and therefore go before them', () => {
    const routeIds = [...routesOf(template).values()];
    expect(throttles).toHaveLength(routeIds.length);
    for (const [at, { waitsFor }] of throttles.entries()) {
      if (at === 0) expect(waitsFor).toEqual(expect.arrayContaining(routeIds));
      else expect(waitsFor).toContain(throttles[at - 1]?.id);
    }
  });

  it('fail soon where that function does not answer', () => {
    for (const [id, { Properties }] of resourcesOf(template, 'Custom::RouteThrottle'))
      expect(Number(Properties.ServiceTimeout), id).toBe(300);
  });

  it('are set by one function, which may do nothing else', () => {
    const functions = throttles.map(({ ServiceToken }) => ServiceToken['Fn::GetAtt'][0]);
    expect(new Set(functions)).toEqual(new Set([expect.stringMatching(/^RouteThrottle/)]));
    const [, role] = resourcesOf(template, 'AWS::IAM::Role').find(([id]) => id.startsWith('RouteThrottle')) ?? [];
    const statements = role?.Properties.Policies[0].PolicyDocument.Statement as {
      Action: string[];
      Resource: object;
    }[];
    expect(statements.map(({ Action }) => Action)).toEqual([
      ['apigateway:PATCH', 'apigateway:DELETE'],
      ['cloudformation:DescribeStacks'],
      ['logs:CreateLogStream', 'logs:PutLogEvents'],
    ]);
    expect(JSON.stringify(statements[0]?.Resource)).toMatch(/"::\/apis\/",\{"Fn::ImportValue":"[^"]+"},"\/stages\/\*"/);
    expect(statements[1]?.Resource).toEqual([{ Ref: 'AWS::StackId' }]);
    expect(JSON.stringify(statements[2]?.Resource)).toContain('RouteThrottleLogs');
    expect(role?.Properties).not.toHaveProperty('ManagedPolicyArns');
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
    const throttles = stacks.flatMap(stack => throttlesOf(templates[stack]));
    const sum = (limit: 'RateLimit' | 'BurstLimit') => throttles.reduce((total, one) => total + one[limit], 0);
    expect(throttles).toHaveLength(18);
    expect(sum('RateLimit')).toBeLessThanOrEqual(1_250);
    expect(sum('BurstLimit')).toBeLessThanOrEqual(625);
  });

  it('are not limited in the local run, which is no part of an account', () => {
    const { Auth } = stageTemplates('local');
    const limits = throttlesOf(Auth).map(({ RateLimit, BurstLimit }) => `${RateLimit}/${BurstLimit}`);
    expect(new Set(limits)).toEqual(new Set(['10000/5000']));
  });
});
