import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { refreshGrant } from '../../tools/support/service-client.ts';
import { createClient, createUser, logIn, postForm, send } from '../support/e2e-service.ts';
import { describeWith, registerSecret, run, until } from '../support/e2e-target.ts';

// The global set-up searches the log for the secrets of all tests. This test sends secrets in wrong parameters.
describeWith(['log'], 'the log of the functions', () => {
  const written = () => readFileSync(run.logFile ?? '', 'utf8');

  it('contains the id of the client, but no secret that a request sent in a wrong parameter', async () => {
    const [client, user] = await Promise.all([createClient(), createUser()]);
    const { refresh_token } = await logIn(client, user);
    const secret = registerSecret(`Stray${unique()}`);
    const forms = [
      { ...refreshGrant(client, refresh_token), grant_type: secret },
      { ...refreshGrant(client, refresh_token), client_id: secret },
      { ...refreshGrant(client, secret) },
      { ...refreshGrant(client, refresh_token), scope: secret },
      { [secret]: secret },
    ];
    for (const form of forms) expect((await postForm('token', form)).status).toBeGreaterThanOrEqual(400);
    await postForm('token', forms[0] ?? {}, {
      authorization: `Basic ${registerSecret(Buffer.from(`x:${secret}`).toString('base64'))}`,
    });

    const body = `{"${secret}"`;
    await send(body, 'e2e');
    await until('the line about the last request', () => (/malformed/.test(written()) ? true : undefined));
    expect(written()).toContain(client.clientId);
    expect(written()).not.toContain(secret);
  });
});
