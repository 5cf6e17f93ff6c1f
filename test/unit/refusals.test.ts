import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Finding, finding } from '../../lambdas/api/findings.ts';
import { Problem, problemBody, problemTitles } from '../../lambdas/api/problem.ts';
import { apiProblems, bodyProblems, pathProblems, protectedProblems } from '../../lambdas/api/problems.ts';
import { type BodyProblemName, type ContextOf, type RequestContext, resourcesOf } from '../../lambdas/api/route.ts';
import { validate } from '../../lambdas/api/validation.ts';
import type { MakeEndpointError } from '../../lambdas/auth/endpoints/oauth-endpoint.ts';
import { OAuthError } from '../../lambdas/auth/oauth-error.ts';
import { authRoutes, formCases, oauthCases, pathCases, serviceCases } from '../../lambdas/auth/routes.ts';
import { historyQuery, parseQuery, replayRequest } from '../../lambdas/delivery/api/input.ts';
import { deliveryProblems, deliveryRoutes } from '../../lambdas/delivery/api/routes.ts';
import type { RouteTable } from '../../lambdas/platform/route-table.ts';
import { registration, replacement, secretRotation } from '../../lambdas/webhooks/input.ts';
import { webhookProblems, webhookRoutes } from '../../lambdas/webhooks/routes.ts';
import { findingNames, findings, problems } from '../support/error-texts.ts';
import { firstCells, readPage, sectionOf } from '../support/markdown-page.ts';

// Tests the error tables of both hosts. test/unit/api/api-errors.test.ts and test/e2e/form-errors.e2e.test.ts cause each error.

const cases = Object.entries(problems).map(([name, row]) => [name, { code: name, ...row }] as const);
const titles = Object.entries(problemTitles);
const placeholdersOf = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();

describe('the texts of errors', () => {
  const sentences = [...cases, ...Object.entries(findings)];

  it.each([...sentences, ...titles])('are in English and Portuguese with the same values: %s', (_name, { en, pt }) => {
    expect(en).toMatch(/^[\x20-\x7e]+$/);
    expect(pt).toMatch(/^[\x20-\x7eÀ-ÿ]+$/);
    expect(pt).not.toBe(en);
    expect(placeholdersOf(pt)).toEqual(placeholdersOf(en));
    expect(en.replaceAll(/\{\w+\}/g, '')).not.toMatch(/[{}]/);
  });

  it.each(sentences)('are full sentences: %s', (_name, { en, pt }) => {
    expect(en).toMatch(/^[A-Z].*\.$/);
    expect(pt).toMatch(/^[A-ZÀ-Ý].*\.$/);
  });

  it.each(['en', 'pt'] as const)('are unique in %s', language => {
    const details = cases.map(([, texts]) => texts[language]);
    expect(new Set(details).size).toBe(details.length);
  });

  it('have a title for each status and no other titles', () => {
    const statuses = new Set(cases.map(([, { status }]) => status));
    expect(new Set(titles.map(([status]) => Number(status)))).toEqual(statuses);
  });

  it('have no placeholders for errors from handlers, which pass no values', () => {
    const texts = Object.values({ ...bodyProblems, ...webhookProblems, ...deliveryProblems }).map(({ en }) => en);
    expect(texts.filter(text => text.includes('{'))).toEqual([]);
  });
});

describe('the error table contains only rows that operations list', () => {
  const listedBy = (...tables: RouteTable[]) =>
    tables
      .flatMap(table => Object.values(table))
      .flatMap(({ operations }) => Object.values(operations).flatMap(({ errors }) => errors));
  const names = (table: object) => Object.keys(table);

  it.each([
    ['base_url', problems, { ...pathProblems, ...protectedProblems, ...bodyProblems }, [webhookRoutes, deliveryRoutes]],
    ['auth_url', oauthCases, { ...pathCases, ...formCases, ...serviceCases }, [authRoutes]],
  ])('at {%s}', (_host, table, shared, routes) => {
    expect(new Set(names(table))).toEqual(new Set([...names(shared), ...listedBy(...routes)]));
  });
});

describe('the error catalogue for integrators', () => {
  const errors = readPage('docs/en/errors.md');
  const statuses = Object.groupBy(
    [
      ...cases.map(([, row]) => row),
      ...Object.values(findings).map(({ code }) => ({ code, status: problems.validation_failed.status })),
      ...Object.values(oauthCases).map(([status, code]) => ({ code, status })),
    ],
    ({ code }) => code,
  );

  it.each(['docs/pt/erros.md', 'docs/en/errors.md'])('in %s has an anchor for each code and no other anchors', file => {
    const codes = readPage(file).headings.filter(({ level }) => level === 3);
    expect(codes.map(({ anchor }) => anchor).sort()).toEqual(Object.keys(statuses).sort());
  });

  it.each(Object.entries(statuses))('lists the statuses of %s, with one for each host', (code, rows = []) => {
    const [, status = ''] = /^\*\*Status (.+?)\.\*\*/.exec(sectionOf(errors, code)) ?? [];
    const named = new Set([...status.matchAll(/\d{3}/g)].map(([number]) => Number(number)));
    expect(named).toEqual(new Set(rows.map(row => row.status)));
    expect(new Set(cases.flatMap(([, row]) => (row.code === code ? [row.status] : []))).size).toBeLessThan(2);
  });

  it.each([
    ['docs/pt/erros.md', 'pt'],
    ['docs/en/errors.md', 'en'],
  ] as const)('in %s shows the actual errors', (file, language) => {
    const [problem, oauth] = readPage(file).blocks.map(({ text }) => JSON.parse(text));
    const code = 'validation_failed';
    const { status } = problems[code];
    expect(problem).toEqual({
      type: `https://docs.example.com/erros#${code}`,
      title: problemTitles[status][language],
      status,
      detail: problems.validation_failed[language],
      code,
      requisicao: 'AbCdEfGhIjKlMnO=',
      errors: [{ pointer: '/url', code: 'url_not_https', detail: findings.https[language] }],
    });
    const [, error, error_description] = oauthCases.credentials_rejected;
    expect(oauth).toEqual({ error, error_description });
  });

  it('lists each field of a problem', () => {
    expect(firstCells(errors, 'Error format')).toEqual([Object.keys(problemBody.shape)]);
  });
});

// Responses must not contain zod's texts, which are only in English.
describe('every finding comes from the tables', () => {
  const expectKnown = (actual: readonly Finding[]) => {
    for (const { code, detail } of actual)
      expect(findingNames({ code, detail: detail.en }, { code, detail: detail.pt })).not.toEqual([]);
  };

  it.each([
    ['a registration', registration],
    ['a replacement', replacement],
    ['a rotation of the secret', secretRotation],
    ['a replay', replayRequest],
  ] as const)('for any body of %s', (_case, schema: Parameters<typeof validate>[0]) => {
    fc.assert(fc.property(anyBody, sent => expectKnown(validate(schema, sent).findings)));
  });

  it('for any query of the history', () => {
    const makeProblem = Problem.from(apiProblems);
    fc.assert(
      fc.property(anyQuery, text => {
        try {
          parseQuery(historyQuery, text, makeProblem);
        } catch (error) {
          expectKnown((error as Problem).errors ?? []);
        }
      }),
    );
  });

  const names = ['evento', 'url', 'autorizacao', 'imediato', 'desde', 'ate', 'estado', 'limite', 'cursor'];
  const anyName = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...names) }, fc.string());
  const values = ['demanda.criada', 'falhou', '', '0', '101', '1e2', '2026-11-20T00:00:00Z', '2026-13-01T00:00:00Z'];
  const anyText = fc.oneof(fc.constantFrom(...values), fc.string());
  const anyBody = fc.oneof(
    { weight: 5, arbitrary: fc.dictionary(anyName, fc.oneof(anyText, fc.jsonValue({ maxDepth: 1 }))) },
    fc.jsonValue({ maxDepth: 2 }),
  );
  const anyQuery = fc.array(fc.tuple(anyName, anyText)).map(pairs => new URLSearchParams(pairs).toString());
});

// These tests check types. `npm run types` fails if an expected type error does not occur.
describe('an operation can throw', () => {
  const routes = {
    One: {
      path: '/x',
      throttle: 'management',
      operations: {
        find: { method: 'GET', access: 'webhooks:read', errors: ['webhook_not_found'] },
        put: { method: 'PUT', access: 'webhooks:manage', takesBody: true, errors: ['concurrent_change'] },
      },
    },
  } as const satisfies RouteTable<string, keyof typeof webhookProblems>;

  it('the errors that its row lists, and the errors for a body or form', () => {
    expectTypeOf<ContextOf<typeof routes, 'find'>['makeProblem']>().parameter(0).toEqualTypeOf<'webhook_not_found'>();
    expectTypeOf<ContextOf<typeof routes, 'put'>['makeProblem']>()
      .parameter(0)
      .toEqualTypeOf<'concurrent_change' | BodyProblemName>();
    const makeError = OAuthError.from(oauthCases);
    const introspect: MakeEndpointError<'introspect'> = makeError;
    const revoke: MakeEndpointError<'revoke'> = makeError;
    expect([revoke('token_of_another_client').status, revoke('method_not_post').status]).toEqual([400, 405]);
    // @ts-expect-error -- the row does not list it
    introspect('token_of_another_client');
  });

  it('only errors that its row lists, even in its handler', () => {
    const finds = async (context: RequestContext<'webhook_not_found'>) => {
      throw context.makeProblem('webhook_not_found');
    };
    const contends = async (context: RequestContext<'concurrent_change'>) => {
      throw context.makeProblem('concurrent_change');
    };
    resourcesOf(routes, webhookProblems, { find: finds, put: contends });
    // @ts-expect-error -- the row does not list the error of the handler
    resourcesOf(routes, webhookProblems, { find: contends, put: contends });
    // @ts-expect-error -- the table does not contain the errors of the rows
    routes satisfies RouteTable<string, keyof typeof deliveryProblems>;
  });

  it('errors only with values for the placeholders in their texts', () => {
    const makeProblem = Problem.from(apiProblems);
    // @ts-expect-error -- the text has the placeholder `allow`
    expect(makeProblem('method_not_allowed').detail.en).toContain('undefined');
    // @ts-expect-error -- the text has the placeholder `values`
    expect(finding({ pointer: '' }, findings.choice).detail.en).toContain('undefined');
    const { detail, message } = makeProblem('method_not_allowed', { values: { allow: 'GET, HEAD' } });
    expect(detail).toEqual({ en: 'This path supports GET, HEAD.', pt: 'Este caminho aceita GET, HEAD.' });
    expect(message).toBe(detail.en);
  });
});
