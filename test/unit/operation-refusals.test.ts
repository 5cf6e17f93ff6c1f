import { describe, expect, expectTypeOf, it } from 'vitest';
import { Problem, type Refuse as RefuseRequest } from '../../lambdas/api/problem.ts';
import { apiProblems, bodyProblems, pathProblems, protectedProblems } from '../../lambdas/api/problems.ts';
import { type BodyRefusal, type ContextOf, type RequestContext, resourcesOf } from '../../lambdas/api/route.ts';
import type { RefuseAt } from '../../lambdas/auth/endpoints/oauth-endpoint.ts';
import { formCases, OAuthError, oauthCases, pathCases, serviceCases } from '../../lambdas/auth/oauth-error.ts';
import { authRoutes } from '../../lambdas/auth/routes.ts';
import { deliveryProblems } from '../../lambdas/delivery/api/problems.ts';
import { deliveryRoutes } from '../../lambdas/delivery/api/routes.ts';
import type { RouteTable } from '../../lambdas/platform/route-table.ts';
import { webhookProblems } from '../../lambdas/webhooks/problems.ts';
import { webhookRoutes } from '../../lambdas/webhooks/routes.ts';

// The types are what is tested: `npm run types` fails where an error that is expected here does not come.

const problems = { ...apiProblems, ...webhookProblems, ...deliveryProblems };

const routes = {
  One: {
    path: '/x',
    throttle: 'management',
    operations: {
      find: { method: 'GET', access: 'webhooks:read', refusals: ['webhook_not_found'] },
      put: { method: 'PUT', access: 'webhooks:manage', takesBody: true, refusals: ['contended'] },
    },
  },
} as const satisfies RouteTable<string, keyof typeof webhookProblems>;

describe('what an operation of {base_url} refuses', () => {
  const refuse = Problem.from(problems);
  const find: ContextOf<typeof routes, 'find'>['refuse'] = refuse;
  const put: ContextOf<typeof routes, 'put'>['refuse'] = refuse;

  it('is what its row lists, and what any body is refused for where it takes one', () => {
    expectTypeOf(find).parameter(0).toEqualTypeOf<'webhook_not_found'>();
    expectTypeOf(put).parameter(0).toEqualTypeOf<'contended' | BodyRefusal>();
    expect(put('contended').status).toBe(503);
    // @ts-expect-error -- the row does not list it
    put('webhook_not_found');
    // @ts-expect-error -- it takes no body
    find('body_empty');
  });

  it('is also what its helpers refuse', () => {
    const helper = (refuse: RefuseRequest<'contended'>) => refuse('contended').status;
    expect(helper(put)).toBe(503);
    // @ts-expect-error -- the row does not list what the helper refuses
    helper(find);
  });

  it('is what its handler refuses, with the rows of the room', () => {
    const finds = async (context: RequestContext<'webhook_not_found'>) => {
      throw context.refuse('webhook_not_found');
    };
    const contends = async (context: RequestContext<'contended'>) => {
      throw context.refuse('contended');
    };
    resourcesOf(routes, webhookProblems, { find: finds, put: contends });
    // @ts-expect-error -- the row does not list what the handler refuses
    resourcesOf(routes, webhookProblems, { find: contends, put: contends });
    // @ts-expect-error -- what the rows list is in no table
    resourcesOf(routes, deliveryProblems, { find: finds, put: contends });
  });

  it('is a name of the tables', () => {
    // @ts-expect-error -- no such name
    routes satisfies RouteTable<string, keyof typeof deliveryProblems>;
  });

  it('is made by its edge alone', () => {
    // @ts-expect-error -- the constructor is private; the linter keeps `Problem.from` to the edges
    expect(new Problem(webhookProblems.webhook_exists, {}).status).toBe(409);
  });
});

describe('what an operation of {auth_url} refuses', () => {
  const refuse = OAuthError.from(oauthCases);
  const revoke: RefuseAt<'revoke'> = refuse;
  const introspect: RefuseAt<'introspect'> = refuse;

  it('is what its row lists, and what any form is refused for', () => {
    expect([revoke('token_of_another_client').status, revoke('method_not_post').status]).toEqual([400, 405]);
    // @ts-expect-error -- the row does not list it
    introspect('token_of_another_client');
    // @ts-expect-error -- the row of the token endpoint alone lists it
    revoke('scope_wider');
  });

  it('is made by its edge alone', () => {
    // @ts-expect-error -- the constructor is private; the linter keeps `OAuthError.from` to the edges
    expect(new OAuthError('token_missing', oauthCases.token_missing).status).toBe(400);
  });
});

describe('the tables of refusals', () => {
  const listedBy = (...tables: RouteTable[]) =>
    tables
      .flatMap(table => Object.values(table))
      .flatMap(({ operations }) => Object.values(operations).flatMap(({ refusals }) => refusals));
  const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

  it('of {base_url} have no row that no operation lists', () => {
    const shared = { ...pathProblems, ...protectedProblems, ...bodyProblems };
    const listed = [...Object.keys(shared), ...listedBy(webhookRoutes, deliveryRoutes)];
    expect(sorted(Object.keys(problems))).toEqual(sorted(listed));
  });

  it('of {auth_url} have no row that no operation lists', () => {
    const shared = { ...pathCases, ...formCases, ...serviceCases };
    expect(sorted(Object.keys(oauthCases))).toEqual(sorted([...Object.keys(shared), ...listedBy(authRoutes)]));
  });

  it('have no places in what handlers refuse: they give no values', () => {
    const texts = Object.values({ ...bodyProblems, ...webhookProblems, ...deliveryProblems }).map(({ en }) => en);
    expect(texts.filter(text => text.includes('{'))).toEqual([]);
  });
});
