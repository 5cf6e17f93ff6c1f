import { expect, it } from 'vitest';
import { callApi, expectProblem, postForm } from '../support/e2e-service.ts';

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
