import { ops } from '../support/e2e-ops.ts';
import { createClient, createUser, logIn } from '../support/e2e-service.ts';
import { authUrl } from '../support/e2e-target.ts';
import { describeFormRefusals, type World } from '../support/form-refusals.ts';

// A unit test describes the same in process.

describeFormRefusals({
  makeWorld,
  send: async (endpoint, { method = 'POST', query, headers, body }) => {
    // Bytes, because fetch would add a content type of its own to a string.
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    const url = `${authUrl}/oauth/v1/${endpoint}${query === undefined ? '' : `?${query}`}`;
    const response = await fetch(url, { method, headers, ...(method !== 'GET' && { body: bytes }) });
    return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
  },
});

async function makeWorld(): Promise<World> {
  const [client, passwordOnly, refreshOnly, narrowClient, disabledClient, boundClient, user, disabledUser] =
    await Promise.all([
      createClient(),
      createClient('--grant', 'password'),
      createClient('--grant', 'refresh_token'),
      createClient('--grant', 'password', '--scope', 'webhooks:read'),
      createClient(),
      createClient('--grant', 'password', '--account', 'another-account'),
      createUser(),
      createUser(),
    ]);
  await Promise.all([
    ops(['clients', 'disable', disabledClient.clientId]),
    ops(['users', 'disable', disabledUser.userId]),
  ]);
  const { refresh_token: refreshToken } = await logIn(client, user);
  return {
    client,
    passwordOnly,
    refreshOnly,
    narrowClient,
    disabledClient,
    boundClient,
    user,
    disabledUser,
    refreshToken,
  };
}
