import { beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../support/e2e-accounts.ts';
import { mapHost } from '../support/e2e-receiver.ts';
import { baseUrl, describeWith } from '../support/e2e-target.ts';
import { callApi, openSession, publicHost, type Session } from '../support/e2e-webhooks.ts';

let admin: Session;
let host: string;

beforeAll(async () => {
  admin = await openSession(await createClient());
  host = await publicHost();
});

const replace = (url: string) => callApi('PUT', '/v1/webhooks/demanda.criada', { token: admin.token, body: { url } });
const register = (url: string) =>
  callApi('POST', '/v1/webhooks', { token: admin.token, body: { evento: 'demanda.criada', url } });

const expectRefused = async (url: string, code: string) => {
  const answer = await register(url);
  expect(answer).toMatchObject({
    status: 422,
    json: { code: 'validation_failed', errors: [{ pointer: '/url', code, detail: expect.any(String) }] },
  });
};

const notHttps = [
  'http://{host}/',
  'HTTP://{host}/',
  'ftp://{host}/',
  'ws://{host}/',
  'file:///etc/passwd',
  'javascript:alert(1)',
];

const names = [
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'intranet', 'printer.local', 'db.internal', 'a.test'],
  ...['a.invalid', 'a.example', 'a.onion', 'a.alt', '1.0.0.127.in-addr.arpa', 'nas.lan', 'nas.home', 'a.corp'],
  ...['a.intranet', 'a.localdomain', 'a.internal.', 'instance-data', 'ｌocalhost'],
];

const addresses = [
  ...['127.0.0.1', '127.1', '0x7f000001', '2130706433', '0177.0.0.1', '0.0.0.0', '0', '10.1.2.3', '172.16.0.1'],
  ...['172.31.255.255', '192.168.0.1', '169.254.169.254', '169.254.1.1', '100.64.0.1', '198.18.0.1', '192.0.2.1'],
  ...['198.51.100.1', '203.0.113.1', '192.0.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '①②⑦.0.0.1'],
  ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:8.8.8.8]', '[fe80::1]', '[fc00::1]', '[fec0::1]', '[ff02::1]'],
  ...['[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]', '[2001:db8::1]', '[2606:4700:4700::1111]'],
];

const invalid = [
  ...[
    '',
    'nothing',
    'https://',
    'https://%',
    'https://{host}:80/',
    'https://{host}:22/',
    'https://{host}:1023/',
    'https://{host}:99999/',
  ],
  ...[
    'https://user@{host}/',
    'https://user:pass@{host}/',
    'https://{host}/#fragment',
    'https://{host}/a b',
    ' https://{host}/',
    'https://{host}/\n',
    'https://{host}/\0',
    'ht\ttps://{host}/',
    'https:\\\\{host}\\hook',
    'https://{host}/\\hook',
    `https://{host}/${'x'.repeat(2_048)}`,
  ],
];

describe('the URL policy refuses', () => {
  it.each(notHttps)('%s: url_not_https', url => expectRefused(url.replace('{host}', host), 'url_not_https'));

  it.each([...names, ...addresses])('https://%s/: url_not_public', name =>
    expectRefused(`https://${name}/`, 'url_not_public'),
  );

  it('the hosts of the service itself: url_not_public', () =>
    expectRefused(`https://${new URL(baseUrl).hostname}/`, 'url_not_public'));

  it.each(invalid)('%s: url_invalid', url => expectRefused(url.replace('{host}', host), 'url_invalid'));

  it('the same in a replacement', async () => {
    await register(`https://${host}/`);
    const answer = await replace('https://127.0.0.1/');
    expect(answer).toMatchObject({ status: 422, json: { errors: [{ pointer: '/url', code: 'url_not_public' }] } });
    expect((await callApi('GET', '/v1/webhooks/demanda.criada', { token: admin.token })).json).toMatchObject({
      url: `https://${host}/`,
    });
    await callApi('DELETE', '/v1/webhooks/demanda.criada', { token: admin.token });
  });
});

describeWith(['names'], 'the URL policy looks at the addresses behind a name and refuses', () => {
  it.each([
    ['no address', []],
    ['loopback', ['127.0.0.1']],
    ['a private one beside a public one', ['93.184.215.14', '10.0.0.1']],
    ['the address of instance metadata', ['169.254.169.254']],
    ['loopback in IPv6 beside a public IPv4', ['93.184.215.14', '::1']],
    ['a mapped private IPv4', ['::ffff:10.0.0.1', '93.184.215.14']],
    ['IPv6 alone: there is no way there', ['2606:2800:21f:cb07:6820:80da:af6b:8b2c']],
  ])('%s: url_not_public', async (title, answers) => {
    const name = `${title.replace(/\W+/g, '-').toLowerCase()}.example.org`;
    await mapHost(name, answers);
    await expectRefused(`https://${name}/`, 'url_not_public');
  });
});

describe('the URL policy takes', () => {
  it.each([
    'https://{host}/',
    'https://{host}',
    'https://{host}:443/',
    'https://{host}:8443/a?b=c',
    'HTTPS://{host}/%C3%A7',
    'https://8.8.8.8/hook',
  ])('%s', async pattern => {
    const answer = await register(pattern.replace('{host}', host));
    expect(answer.status).toBe(201);
    await callApi('DELETE', '/v1/webhooks/demanda.criada', { token: admin.token });
  });
});
