import { expect, it } from 'vitest';
import { documents } from '../support/contract/document.ts';
import { callApi, expectProblem, postForm } from '../support/e2e-service.ts';

// test/unit/api/api-refusals.test.ts asks the functions for each refusal. Here requests reach them through the gateway.

const paths = Object.keys(documents.base.paths).filter(path => path.startsWith('/v1/'));
it.each(paths)(
  'the gateway has a function answer each method at %s, and no function does with a slash behind it',
  async pattern => {
    const path = pattern.replace('{evento}', 'demanda.criada').replace('{id}', 'id');
    const { headers, status } = await callApi('PATCH', path);
    expect([status, headers.get('allow')]).toEqual([405, expect.stringMatching(/^(?:GET, HEAD|POST)/)]);
    for (const method of headers.get('allow')?.split(', ') ?? []) {
      const { status, headers } = await callApi(method, path);
      expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('resource_metadata=')]);
    }
    expectProblem(await callApi('GET', `${path}/`), 404, 'not_found');
  },
);

it('every answer of both hosts tells the id of its request, and no two the same', async () => {
  const answers = [
    await callApi('GET', '/v1/webhooks'),
    await callApi('GET', '/v1/webhooks'),
    await callApi('GET', '/.well-known/oauth-protected-resource'),
    await postForm('token', {}),
  ];
  const ids = answers.map(({ headers }) => headers.get('apigw-requestid'));
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9+/_-]{15}=$/);
  expect(new Set(ids).size).toBe(answers.length);
});

it('a refusal tells the id of its request in the body, too', async () => {
  const answer = await callApi('GET', '/v1/webhooks');
  expectProblem(answer, 401, 'token_missing');
  expect(answer.json?.requisicao).toBe(answer.headers.get('apigw-requestid'));
});
