import { once } from 'node:events';
import { get } from 'node:http';
import { json } from 'node:stream/consumers';
import { ACMClient, RequestCertificateCommand } from '@aws-sdk/client-acm';
import { expect } from 'vitest';
import { until } from '../support/e2e-poll.ts';
import { makeDrill, succeeded } from './drill.ts';
import { trialValues } from './end-to-end.ts';
import { type Hosts, makeSteadyCalls } from './steady-calls.ts';

// The change of domains waits until tokens with the host that goes have ended: theirs end soon.
const drill = makeDrill({ dev: { ...trialValues, accessTokenLifetime: '30s' } });
const { step, emulator, copy, deploy, outputsOf, preflight, createAccounts } = drill;

step('dev: deploy', async () => {
  succeeded(await deploy('dev'));
  return undefined;
});

step(
  'dev: custom domains are switched on, made the only ones and switched off, and no caller is refused',
  async () => {
    const gateway = hostsOf('dev');
    const own = { auth: 'auth.domain.example.com', base: 'base.domain.example.com' };
    const [client, user] = await createAccounts('dev', 'domain');
    const acm = new ACMClient(emulator().settings);
    const request = new RequestCertificateCommand({ DomainName: '*.domain.example.com', ValidationMethod: 'DNS' });
    const { CertificateArn: certificate } = await acm.send(request);
    const configure = (role: string) =>
      copy().configure('dev', {
        ...{ authDomain: own.auth, authCertificateArn: certificate, authDomainRole: role },
        ...{ baseDomain: own.base, baseCertificateArn: certificate, baseDomainRole: role },
      });
    const check = async () => (await preflight('dev', '--yes')).findings.get('custom domains') ?? '';
    const take = async (role: string) => {
      configure(role);
      succeeded(await deploy('dev'));
    };

    const calls = makeSteadyCalls(Number(new URL(emulator().endpoint).port), { ...client, ...user });
    calls.begin(gateway);
    await take('prepared');
    expect(hostsOf('dev')).toEqual(gateway);
    configure('primary');
    expect(await check()).toMatch(/auth\.domain\.example\.com.* is not answered/); // no DNS record yet
    for (const name of Object.values(own)) emulator().mapHost(name);
    calls.begin(own);
    await take('primary');
    expect(hostsOf('dev')).toEqual(own);
    expect(await metadataAt(gateway)).toEqual([`http://${gateway.auth}`, `http://${gateway.base}`]);
    expect(await metadataAt(own)).toEqual([`https://${own.auth}`, `https://${own.base}`]);

    calls.end(gateway);
    configure('only');
    const isNamed = async () => (await check()).includes('access tokens');
    await until(
      'the end of tokens with the host that goes',
      async () => ((await isNamed()) ? undefined : true),
      60_000,
    );
    await take('only');
    await take('primary');
    calls.begin(gateway);
    await take('former');
    expect(hostsOf('dev')).toEqual(gateway);
    const { calls: count, failures } = await calls.stop();
    expect(failures).toEqual([]);
    expect(count).toBeGreaterThan(500);
    return `${count} calls of old and new hosts in five deployments, all answered with 200`;
  },
  900_000,
);

/** Returns the hosts of the URLs that name a stage. */
function hostsOf(stage: string): Hosts {
  const { AuthUrl, BaseUrl } = outputsOf(stage);
  return { auth: new URL(AuthUrl).host, base: new URL(BaseUrl).host };
}

/** Returns the issuer and the resource that the metadata at these hosts name. */
async function metadataAt({ auth, base }: Hosts): Promise<readonly unknown[]> {
  const { port } = new URL(emulator().endpoint);
  const read = async (host: string, path: string) => {
    const [answer] = await once(get({ host: '127.0.0.1', port, path, headers: { host } }), 'response');
    return json(answer) as Promise<Record<string, unknown>>;
  };
  const [server, resource] = await Promise.all([
    read(auth, '/.well-known/oauth-authorization-server'),
    read(base, '/.well-known/oauth-protected-resource'),
  ]);
  return [server.issuer, resource.resource];
}
