import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../tools/support/accounts.ts';
import { createClient, createUser } from '../support/e2e-accounts.ts';
import { settled } from '../support/e2e-deliveries.ts';
import { ops } from '../support/e2e-ops.ts';
import { until } from '../support/e2e-poll.ts';
import { deliveryId, publish } from '../support/e2e-queues.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { plant } from '../support/e2e-target.ts';
import { callApi, openSession, register, type Session } from '../support/e2e-webhooks.ts';
import { expectAccessible, openWindow, startBrowser, type Window } from './browser.ts';
import { buildPanel, type Panel } from './panel.ts';

// What a page says of an action is compared with what the API says afterwards, for each who may open the panel.

type Role = 'admin' | 'reader';

const panelProgram = buildPanel();
const authorization = plant('Bearer canary-of-the-authorization');
let browser: Browser;
let receiver: Receiver;
let client: Client;
let readersClient: Client;
let session: Session;
let account: string;
let panels: Readonly<Record<Role, Panel>>;
let windows: Readonly<Record<Role, Window>>;

beforeAll(async () => {
  const reads = ['--grant', 'password', '--grant', 'refresh_token', '--scope', 'webhooks:read'];
  [browser, receiver, client, readersClient] = await Promise.all([
    startBrowser(),
    startReceiver('roles'),
    createClient(),
    createClient(...reads),
  ]);
  session = await openSession(client);
  ({ account } = session.user);
  panels = { admin: panelProgram.start(client, session.user), reader: panelProgram.start(readersClient, session.user) };
  windows = {
    admin: await openWindow(browser, await panels.admin.link()),
    reader: await openWindow(browser, await panels.reader.link()),
  };
}, 120_000);
afterAll(async () => {
  await Promise.all([browser.close(), receiver.stop(), panels.admin.stop(), panels.reader.stop()]);
  panelProgram.remove();
});

const event = 'demanda.criada';
const path = () => `/webhooks/${event}`;

/** What a case is about: one registration, and where it matters a delivery. */
interface Subject {
  /** When the case began, RFC 3339. */
  readonly since: string;
  readonly id: string;
}

/** Asks the API as the admin. */
const api = async (method: string, below = '', body?: unknown) => {
  const { status, json = {} } = await callApi(method, `/v1/webhooks/${event}${below}`, { token: session.token, body });
  return { status, json };
};
const begin = async () => {
  await api('DELETE');
  return { since: new Date().toISOString(), id: '' };
};

// Where a case begins.
const nothing = begin;
const active = async () => {
  const begun = await begin();
  receiver.script('/hooks', { status: 200 });
  await register(session, { evento: event, url: receiver.url('/hooks'), autorizacao: authorization });
  return begun;
};
const after = (status: number) => async () => {
  const begun = await active();
  receiver.script('/hooks', { status });
  const id = deliveryId(account, event, await publish(account, { event, id_demanda: 1 }));
  await settled(id);
  receiver.script('/hooks', { status: 200 });
  return { ...begun, id };
};

// What is so, in one line.
const record = async () => {
  const { status, json } = await api('GET');
  const { url, estado, motivo_suspensao, autorizacao_definida, segredos_anteriores } = json;
  if (status !== 200) return String(status);
  const former = Array.isArray(segredos_anteriores) ? segredos_anteriores.length : '?';
  const [where, has] = [String(url).replace(/.*\//, '/'), autorizacao_definida ? 'header' : 'bare'];
  return `${where} ${estado} ${motivo_suspensao} ${has} ${former}`;
};
const delivery = async ({ id }: Subject) => String((await api('GET', `/entregas/${id}`)).json.estado);
const tests = async ({ since }: Subject) => {
  const { entregas } = (await api('GET', `/entregas?desde=${since}`)).json;
  return `${Array.isArray(entregas) ? entregas.filter(({ id }) => String(id).startsWith('teste_')).length : '?'} tests`;
};

type Path = (subject: Subject) => string;

/** An action: how a person comes to it, what the page says, and what is so then by the API. */
interface Row {
  readonly does: string;
  /** Who may do it. */
  readonly roles: readonly Role[];
  readonly from: () => Promise<Subject>;
  /** The page where it begins, then what is clicked, filled in or ticked. */
  readonly way: readonly [Path, ...Step[]];
  readonly says: string;
  /** What is so before, and then. */
  readonly state: readonly [(subject: Subject) => Promise<string>, before: string, then: string];
}

/** A selector to click, or a field and what is filled in. */
type Step = string | readonly [field: string, value: () => string];

const at = (below: string) => () => `${path()}${below}`;
const one = ({ id }: Subject) => `${path()}/deliveries/${id}`;
const first = () => '/';
const hooks = ['url', () => receiver.url('/hooks')] as const;
const other = ['url', () => receiver.url('/other')] as const;
const header = ['authorization', () => authorization] as const;
const [bare, set] = ['/hooks ativo null bare 0', '/hooks ativo null header 0'];

const rows: readonly Row[] = [
  {
    does: 'registers',
    roles: ['admin'],
    from: nothing,
    way: [first, `a[href$="event=${event}"]`, hooks, 'button.main'],
    says: 'The webhook is registered.',
    state: [record, '404', bare],
  },
  {
    does: 'changes the URL and removes the header',
    roles: ['admin'],
    from: active,
    way: [at(''), 'a:has-text("Settings")', other, '[name=remove]', 'button.main'],
    says: 'The webhook is changed.',
    state: [record, set, '/other ativo null bare 0'],
  },
  {
    does: 'changes the header',
    roles: ['admin'],
    from: active,
    way: [at('/settings'), header, 'button.main'],
    says: 'The webhook is changed.',
    state: [record, set, set],
  },
  {
    does: 'replaces the secret',
    roles: ['admin'],
    from: active,
    way: [at(''), 'a:has-text("Settings")', 'a:has-text("Replace the secret")', 'button.main'],
    says: 'The secret is replaced.',
    state: [record, set, '/hooks ativo null header 1'],
  },
  {
    does: 'replaces the secret at once',
    roles: ['admin'],
    from: active,
    way: [at('/settings'), 'a:has-text("at once")', 'button.danger'],
    says: 'none signs any more',
    state: [record, set, set],
  },
  {
    does: 'deletes',
    roles: ['admin'],
    from: active,
    way: [at(''), 'a:has-text("Settings")', 'a:has-text("Delete the webhook")', 'button.danger'],
    says: 'is deleted.',
    state: [record, set, '404'],
  },
  {
    does: 'sends a test',
    roles: ['admin'],
    from: active,
    way: [at(''), 'button:has-text("Send a test")'],
    says: 'The test is on its way.',
    state: [tests, '0 tests', '1 tests'],
  },
  {
    does: 'reactivates after 410',
    roles: ['admin'],
    from: after(410),
    way: [at(''), 'button:has-text("Reactivate")'],
    says: 'The webhook is active again.',
    state: [record, '/hooks suspenso gone header 0', set],
  },
  {
    does: 'sends a failed delivery again',
    roles: ['admin'],
    from: after(500),
    way: [one, 'button:has-text("Send again")'],
    says: 'It is sent now, or on its way.',
    state: [delivery, 'falhou', 'entregue'],
  },
  {
    does: 'sends all that failed again',
    roles: ['admin'],
    from: after(500),
    way: [at('?state=falhou'), 'a:has-text("Send all of these again")', 'button.main'],
    says: 'They are being sent again.',
    state: [delivery, 'falhou', 'entregue'],
  },
  {
    does: 'shows the body',
    roles: ['admin', 'reader'],
    from: after(500),
    way: [one],
    says: '"id_demanda":1',
    state: [delivery, 'falhou', 'falhou'],
  },
];

// pages.test.ts holds what those are refused who may not.
describe.each(rows)('$does', ({ roles, from, way: [start, ...steps], says, state: [state, before, then] }) => {
  it.each(roles)('%s', async role => {
    const { page, folder, troubles } = windows[role];
    const subject = await from();
    const isSo = (expected: string) =>
      until(`the state ${expected}`, async () => (await state(subject)) === expected || undefined);
    await isSo(before);
    await page.goto(folder + start(subject));
    for (const step of steps) {
      if (typeof step !== 'string') await page.fill(`[name=${step[0]}]`, step[1]());
      else await page.click(step);
    }
    expect(await page.textContent('main')).toContain(says);
    await isSo(then);
    expect(troubles.filter(trouble => !trouble.includes('Failed to load resource'))).toEqual([]);
  });
});

const originOf = (folder: string) => ({ origin: new URL(folder).origin });

describe('a secret', () => {
  it('is the one that signs, and stands on one answer alone: not after a reload, Back, Forward or a second click', async () => {
    await active();
    const { page, folder } = windows.admin;
    const content = () => until('a page', () => page.content().catch(() => undefined)); // it may be going on still
    const shown = async () => /whsec_[\w+/=]+/.exec(await content())?.[0];
    await page.goto(`${folder}${path()}/rotate`);
    await page.dblclick('button.main');
    await page.waitForSelector('code.secret');
    const secret = plant((await shown()) ?? '');
    expect(await record()).toBe('/hooks ativo null header 1');

    const before = receiver.received('/hooks').length;
    await api('POST', '/teste');
    const sent = (await receiver.waitFor('/hooks', before + 1)).at(-1);
    const verify = () => new Webhook(secret).verify(sent?.body ?? '', (sent?.headers ?? {}) as Record<string, string>);
    expect(verify).not.toThrow();

    await page.reload();
    expect(await page.textContent('main')).toContain('This form was sent already.');
    for (const go of [() => page.goBack(), () => page.goForward(), () => page.goBack()]) {
      await go().catch(() => {}); // Chromium asks before it sends a form again, and shows its own page
      expect(await shown()).toBeUndefined();
    }
    await page.goto(folder + path());
    expect(await shown()).toBeUndefined();
    expect(await record()).toBe('/hooks ativo null header 1');
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')).not.toContain(
      'whsec_',
    );
  });

  it('is copied by its button', async () => {
    await active();
    const { page, folder, context } = windows.admin;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${folder}${path()}/rotate`);
    await page.click('button.main');
    await expectAccessible(page);
    await page.click('button.copy');
    const secret = await page.textContent('code.secret');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
  });
});

describe('what the API refuses', () => {
  it.each([
    ['en-US', 'http://a.example.com/', 'The URL must begin with https:.'],
    ['pt-BR', 'http://a.example.com/', 'A URL deve começar com https:.'],
    ['en-US', 'https://10.0.0.1/', 'not a public address'],
  ])(
    'stands beside its field, in the language of the page (%s, %s); what was typed stays, but secrets',
    async (locale, url, why) => {
      await active();
      const { page, folder, context } = await openWindow(browser, await panels.admin.link(), { locale });
      await page.goto(`${folder}/webhooks/new?event=mensagem.recebida`);
      await page.fill('[name=url]', url);
      await page.fill('[name=authorization]', authorization);
      await page.click('button.main');
      expect(await page.textContent('#url-wrong')).toContain(why);
      expect(await page.inputValue('[name=url]')).toBe(url);
      expect(await page.inputValue('[name=authorization]')).toBe('');
      expect(await page.inputValue('[name=event]')).toBe('mensagem.recebida');
      await expectAccessible(page);
      await context.close();
    },
  );

  it('is said as it is: a webhook that is there, too many secrets, a range that ends before it begins', async () => {
    await active();
    const { page, folder } = windows.admin;
    const post = async (below: string, form: Record<string, string>) =>
      (await page.request.post(folder + below, { headers: originOf(folder), form })).text();
    expect(await post('/webhooks/new', { event, url: receiver.url('/hooks') })).toContain(
      'has a webhook for this event',
    );
    for (let count = 0; count < 4; count++) await api('POST', '/segredo');
    const many = await post(`${path()}/rotate`, {});
    expect(many).toContain('Four replaced secrets still sign.');
    expect(many).toMatch(/It can be tried again in \d+ s\./);
    await page.goto(`${folder}${path()}?since=2026-11-02T00:00&until=2026-11-01T00:00`);
    expect(await page.textContent('main')).toMatch(/ate: \w+|must end after it begins/);
    await page.goto(`${folder}${path()}/deliveries/evt_000000000000000000000000000`);
    expect(await page.textContent('main')).toContain('That is not there');
  });
});

describe('who', () => {
  it('has no right on webhooks is told so before there is a page', async () => {
    const member = await createUser({ account, role: 'member' });
    const panel = panelProgram.start(client, member);
    expect(await panel.ended()).toBe(1);
    expect(panel.output()).toMatch(
      /^error: Only users with administrative permission on the account manage webhooks\./m,
    );
    expect(panel.output()).not.toContain('Painel:');
  });

  it('is logged out at the service is told what to do, on every page', async () => {
    const { user } = await openSession(client);
    const panel = panelProgram.start(client, user);
    const { page, folder, context } = await openWindow(browser, await panel.link());
    await ops(['sessions', 'end', '--user', user.userId, '--yes']);
    for (const below of ['/', path()]) {
      await page.goto(folder + below);
      expect(await page.textContent('main')).toContain('Your session has ended');
    }
    await context.close();
    await panel.stop();
  });
});

it('a terminal shows no secret that is pasted together with what is asked for first', async () => {
  const panel = panelProgram.start(client, session.user, true);
  await panel.link();
  expect(panel.output()).toContain(`client_id: ${client.clientId}`);
  for (const secret of [client.clientSecret, session.user.password]) expect(panel.output()).not.toContain(secret);
  await panel.stop();
});

it('no secret of the panel is on another page, or in what it writes', async () => {
  const { id } = await after(500)();
  const { password } = session.user;
  const secrets = [client.clientSecret, readersClient.clientSecret, password, authorization, 'whsec_', 'eyJ'];
  const questions = ['/settings', '/rotate', '/remove'].map(below => path() + below);
  for (const role of ['admin', 'reader'] as const) {
    const { page, folder } = windows[role];
    for (const below of ['/', path(), ...questions, one({ since: '', id }), '/find', '/nothing']) {
      await page.goto(folder + below);
      const content = await page.content();
      for (const secret of secrets) expect([below, content.includes(secret)]).toEqual([below, false]);
    }
    const output = panels[role].output();
    for (const secret of secrets) expect(output).not.toContain(secret);
    expect(
      output
        .replaceAll(/^Painel: \S+$/gm, 'a link')
        .split('\n')
        .filter(line => line !== '' && line !== 'a link'),
    ).toEqual(['Enter: novo link (new link). Ctrl-C: fim (end).']);
  }
});
