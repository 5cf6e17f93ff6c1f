import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { refreshGrant } from '../../tools/support/service-client.ts';
import { createClient, createUser, logIn, postForm, send } from '../support/e2e-service.ts';
import { describeWith, plant, run, until } from '../support/e2e-target.ts';

// The global set-up searches the log for the secrets of all tests. This test sends secrets in wrong parameters.
describeWith(['log'], 'the log of the functions', () => {
  const written = () => readFileSync(run.logFile ?? '', 'utf8');

  it('contains the id of the client, but no secret that a request sent in a wrong parameter', async () => {
    const [client, user] = await Promise.all([createClient(), createUser()]);
    const { refresh_token } = await logIn(client, user);
    const stray = plant(`Stray${unique()}`);
    const strays = [
      { ...refreshGrant(client, refresh_token), grant_type: stray },
      { ...refreshGrant(client, refresh_token), client_id: stray },
      { ...refreshGrant(client, stray) },
      { ...refreshGrant(client, refresh_token), scope: stray },
      { [stray]: stray },
    ];
    for (const form of strays) expect((await postForm('token', form)).status).toBeGreaterThanOrEqual(400);
    await postForm('token', strays[0] ?? {}, {
      authorization: `Basic ${plant(Buffer.from(`x:${stray}`).toString('base64'))}`,
    });

    const body = `{"${stray}"`;
    await send(body, 'e2e');
    await until('the line about the last request', () => (/malformed/.test(written()) ? true : undefined));
    expect(written()).toContain(client.clientId);
    expect(written()).not.toContain(stray);
  });
});
