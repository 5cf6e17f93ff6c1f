import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client, User } from '../../tools/support/accounts.ts';
import { startConsole, textOf } from '../support/console-client.ts';
import { ops } from '../support/e2e-ops.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import {
  callApi,
  createClient,
  createUser,
  openSession,
  publish,
  register,
  type Session,
  untilSettled,
} from '../support/e2e-service.ts';
import { authUrl, baseUrl, registerSecret, until } from '../support/e2e-target.ts';

// Tests each console action as an admin, as a reader, and as the admin of another account. The API returns the result.

type Role = 'admin' | 'reader' | 'foreign admin';
const roles: readonly Role[] = ['admin', 'reader', 'foreign admin'];
const event = 'demanda.criada';
const own = `/webhooks/${event}`;
const authorization = registerSecret('Bearer canary-of-the-authorization');

let receiver: Receiver;
let client: Client;
let session: Session;
let browsers: Readonly<Record<Role, ReturnType<typeof startConsole>>>;

async function signInAs(by: Client, { email, password }: Pick<User, 'email' | 'password'>) {
  const browser = startConsole({ service: { authUrl, baseUrl, fetch } });
  const { clientId, clientSecret } = by;
  await browser.signIn({ client_id: clientId, client_secret: clientSecret, username: email, password });
  return browser;
}

beforeAll(async () => {
  const readOnly = ['--grant', 'password', '--grant', 'refresh_token', '--scope', 'webhooks:read'];
  const [readers, foreign] = await Promise.all([createClient(...readOnly), createUser()]);
  [receiver, client] = await Promise.all([startReceiver('roles'), createClient()]);
  session = await openSession(client);
  browsers = {
    admin: await signInAs(client, session.user),
    reader: await signInAs(readers, session.user),
    'foreign admin': await signInAs(client, foreign),
  };
}, 120_000);
afterAll(() => receiver.stop());

/** Sends a request to the API as the admin. */
async function api(method: string, path = '', body?: unknown) {
  const { status, json = {} } = await callApi(method, `/v1/webhooks/${event}${path}`, { token: session.token, body });
  return { status, json };
}

/** Deletes the webhook, and registers it again. */
async function reset(): Promise<string> {
  await api('DELETE');
  receiver.script('/hooks', { status: 200 });
  await register(session, { evento: event, url: receiver.url('/hooks'), autorizacao: authorization });
  return '';
}

/** Sends an event to a receiver that returns a status. Returns the ID of the delivery. */
async function deliver(status: number): Promise<string> {
  await reset();
  receiver.script('/hooks', { status });
  const id = await publish(session.user.account, { event, id_demanda: 1 });
  await untilSettled(id);
  receiver.script('/hooks', { status: 200 });
  return id;
}

/** Returns a one-line summary of the webhook. */
async function record(): Promise<string> {
  const { status, json } = await api('GET');
  if (status !== 200) return String(status);
  const { url, estado, motivo_suspensao, autorizacao_definida, segredos_anteriores } = json;
  const oldSecrets = Array.isArray(segredos_anteriores) ? segredos_anteriores.length : '?';
  return `${String(url).replace(/.*\//, '/')} ${estado} ${motivo_suspensao} ${autorizacao_definida ? 'header' : 'bare'} ${oldSecrets}`;
}

async function stateOf(id: string): Promise<string> {
  return String((await api('GET', `/entregas/${id}`)).json.estado);
}

async function tests(): Promise<string> {
  const { entregas } = (await api('GET', '/entregas?limite=100')).json;
  return `${Array.isArray(entregas) ? entregas.filter(({ id }) => String(id).startsWith('teste_')).length : '?'} tests`;
}

type Row = readonly [
  action: string,
  /** Prepares the action. Returns the ID of its delivery, if any. */
  prepare: () => Promise<string>,
  /** The path and the fields of the form. */
  form: (id: string) => readonly [path: string, fields?: Record<string, string>],
  state: (id: string) => Promise<string>,
  before: string,
  afterwards: string,
];

const withoutHeader = '/hooks ativo null bare 0';
const withHeader = '/hooks ativo null header 0';
const withOldSecret = '/hooks ativo null header 1';
const gone = '/hooks suspenso gone header 0';
const all = () => ({ estado: 'falhou', desde: '2026-01-01T00:00:00Z', ate: new Date().toISOString() });
const registration = () => ({ evento: event, url: receiver.url('/hooks') });
const change = () => ({ url: receiver.url('/other'), remove: 'yes' });
const removeWebhook = async () => (await api('DELETE')).status.toString();
const testsOfActive = async () => `${await reset()}${await tests()}`;
const isTestSent = async (before: string) => ((await tests()) === before ? 'none' : 'sent');

const rows: readonly Row[] = [
  ['registers', removeWebhook, () => ['/register', registration()], record, '404', withoutHeader],
  ['changes URL and header', reset, () => [`${own}/change`, change()], record, withHeader, '/other ativo null bare 0'],
  ['replaces the secret', reset, () => [`${own}/secret`, { immediate: 'no' }], record, withHeader, withOldSecret],
  ['deletes', reset, () => [`${own}/delete`], record, withHeader, '404'],
  ['sends a test', testsOfActive, () => [`${own}/test`], isTestSent, 'none', 'sent'],
  ['sends a sample', testsOfActive, () => ['/first-steps/sample', { event }], isTestSent, 'none', 'sent'],
  ['reactivates', () => deliver(410), () => [`${own}/reactivate`], record, gone, withHeader],
  ['resends', () => deliver(500), id => [`${own}/deliveries/${id}/resend`], stateOf, 'falhou', 'entregue'],
  ['replays the failed deliveries', () => deliver(500), () => [`${own}/replay`, all()], stateOf, 'falhou', 'entregue'],
];

describe.each(rows)('the form that %s', (_action, prepare, form, state, before, afterwards) => {
  it.each(roles)('has an effect only for the admin of the account (sent by the %s)', async role => {
    const browser = browsers[role];
    const id = await prepare();
    const untilState = (expected: string) =>
      until(`the state ${expected}`, async () => (await state(id)) === expected || undefined);
    await untilState(before);
    await browser.open('/');
    const page = await browser.post(...form(id));
    if (role === 'admin') return void (await untilState(afterwards));
    if (role === 'reader') expect(textOf(page)).toContain('webhooks:manage');
    expect(await state(id)).toBe(before);
    // The foreign admin may have registered a webhook for the other account.
    if (role === 'foreign admin') await browser.post(`${own}/delete`);
  });
});

it.each(['/', own, `${own}?state=falhou`, '/first-steps'])(
  'a foreign admin sees no data from the account on %s',
  async path => {
    const id = await deliver(500);
    const page = await browsers['foreign admin'].open(path);
    for (const secret of [receiver.url('/hooks'), id, session.user.account]) expect(textOf(page)).not.toContain(secret);
    expect((await browsers['foreign admin'].open(`${own}/deliveries/${id}`)).status).toBe(404);
  },
);

it('the console shows a new signing secret once', async () => {
  await reset();
  const { open, post } = browsers.admin;
  await open(own);
  const page = await post(`${own}/secret`, { immediate: 'yes' });
  const [secret = ''] = /whsec_[\w+/=]+/.exec(page.html) ?? [];
  registerSecret(secret);
  const before = receiver.received('/hooks').length;
  await post(`${own}/test`);
  const sent = (await receiver.waitFor('/hooks', before + 1)).at(-1);
  expect(() =>
    new Webhook(secret).verify(sent?.body ?? '', { ...sent?.headers } as Record<string, string>),
  ).not.toThrow();
  expect((await open(own)).html).not.toContain('whsec_');
});

it('the console shows a member the error from the API', async () => {
  const member = await createUser({ account: session.user.account, role: 'member' });
  const page = await (await signInAs(client, member)).open('/');
  expect([page.status, textOf(page)]).toEqual([403, expect.stringContaining('administrative permission')]);
});

it('the console requires a new sign-in after an operator ends the session', async () => {
  const { user } = await openSession(client);
  const browser = await signInAs(client, user);
  await ops(['sessions', 'end', '--user', user.userId, '--yes']);
  const page = await browser.open('/');
  expect([page.status, textOf(page)]).toEqual([401, expect.stringContaining('You are signed out')]);
});
