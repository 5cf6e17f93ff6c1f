import { expect, it } from 'vitest';
import { passwordGrant, refreshGrant } from '../../tools/support/service-client.ts';
import { ops } from '../support/e2e-ops.ts';
import {
  callApi,
  createClient,
  createUser,
  expectProblem,
  getTokens,
  logIn,
  postForm,
} from '../support/e2e-service.ts';

it('parallel refreshes have one successor', async () => {
  const client = await createClient();
  const { refresh_token } = await logIn(client, await createUser());
  const answers = await Promise.all(Array.from({ length: 10 }, () => getTokens(refreshGrant(client, refresh_token))));
  expect(new Set(answers.map(answer => answer.refresh_token)).size).toBe(1);
  expect(new Set(answers.map(answer => answer.access_token)).size).toBe(10);
});

it('a disabled user is out at once, at both hosts', async () => {
  const [client, leaver] = await Promise.all([createClient(), createUser()]);
  const tokens = await logIn(client, leaver);
  const list = () => callApi('GET', '/v1/webhooks', { token: tokens.access_token });
  expect((await list()).status).toBe(200);
  await ops(['users', 'disable', leaver.email]);
  expectProblem(await list(), 401, 'invalid_token');
  expect((await postForm('token', refreshGrant(client, tokens.refresh_token))).status).toBe(400);
  expect((await postForm('token', passwordGrant(client, leaver))).status).toBe(400);
});
