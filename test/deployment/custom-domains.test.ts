import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { ACMClient, RequestCertificateCommand } from '@aws-sdk/client-acm';
import { expect } from 'vitest';
import { makeDrill, succeeded } from './drill.ts';
import { trialValues } from './end-to-end.ts';

const { step, emulator, copy, deploy, outputsOf, preflight, createAccounts } = makeDrill({ dev: trialValues });

step('dev: deploy', async () => {
  succeeded(await deploy('dev'));
  return undefined;
});

step('dev: with custom domains, both hosts of each API respond and accept tokens from both hosts', async () => {
  const gateway = hostsOf('dev');
  const customHosts = { auth: 'auth.domain.example.com', base: 'base.domain.example.com' };
  const [client, user] = await createAccounts('dev', 'domain');
  const acm = new ACMClient(emulator().settings);
  const certificate = new RequestCertificateCommand({ DomainName: '*.domain.example.com', ValidationMethod: 'DNS' });
  const { CertificateArn: certificateArn } = await acm.send(certificate);
  copy().configure('dev', {
    authDomain: { name: customHosts.auth, certificateArn },
    baseDomain: { name: customHosts.base, certificateArn },
  });
  expect([...(await preflight('dev')).problems.keys()]).toContain('domains');
  succeeded(await deploy('dev'));
  expect(hostsOf('dev')).toEqual(customHosts);
  for (const { auth } of [gateway, customHosts]) {
    const metadata = await send(auth, '/.well-known/oauth-authorization-server');
    expect(metadata).toMatchObject({ issuer: `https://${customHosts.auth}` });
    const form = { grant_type: 'password', username: user.email, password: user.password };
    const { access_token: token } = await send(auth, '/oauth/v1/token', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...form, client_id: client.clientId, client_secret: client.clientSecret }).toString(),
    });
    for (const { base } of [gateway, customHosts]) {
      const webhooks = await send(base, '/v1/webhooks', { headers: { authorization: `Bearer ${token}` } });
      expect(webhooks).toMatchObject({ webhooks: [] });
    }
  }
  return 'tokens from two hosts, each used at two hosts';
});

/** Returns the hosts in the outputs of a stage. */
function hostsOf(stage: string) {
  const { AuthUrl, BaseUrl } = outputsOf(stage);
  return { auth: new URL(AuthUrl).host, base: new URL(BaseUrl).host };
}

/** Sends a request to the emulator, which selects the API by the header `Host`. Returns the body of the response. */
async function send(host: string, path: string, { method = 'GET', headers = {}, body = '' } = {}) {
  const { port } = new URL(emulator().endpoint);
  const sent = request({ host: '127.0.0.1', port, path, method, headers: { ...headers, host } });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return (await json(response)) as Record<string, unknown>;
}
