import { describe, expect, it } from 'vitest';
import { eventNames } from '../../../console/events.ts';
import { en } from '../../../console/texts/en.ts';
import { pt } from '../../../console/texts/pt.ts';
import { failureCauses } from '../../../lambdas/delivery/failure-causes.ts';
import { wireResults, wireStates } from '../../../lambdas/delivery/representation.ts';
import { EVENT_NAMES } from '../../../lambdas/webhooks/webhook.ts';
import { startConsole, textOf } from '../../support/console-client.ts';
import {
  attempt,
  credentials,
  delivery,
  list,
  makeService,
  problem,
  type Replies,
  tokens,
  unanswered,
  webhook,
} from './fake-service.ts';

// Tests the requests that each page sends, and the page for each API response.

const event = 'demanda.criada';
const own = `/webhooks/${event}`;
const api = `/v1/webhooks/${event}`;
const now = Date.parse('2026-11-28T12:00:00Z');
const hourAgo = '2026-11-28T11:00:00.000Z';

async function walkWith(replies: Replies, options = {}) {
  const fake = makeService({ [`GET ${api}/entregas`]: list([]), ...replies });
  const browser = startConsole({ service: fake, now: () => now, ...options });
  await browser.signIn(credentials);
  fake.calls.length = 0;
  return { fake, ...browser, text: async (path: string) => textOf(await browser.open(path)) };
}
const listed = (...webhooks: ReturnType<typeof webhook>[]) => ({
  'GET /v1/webhooks': { json: { webhooks, eventos_sem_webhook: [] } },
});
const read = (changes: Parameters<typeof delivery>[0], more: Replies = {}) => {
  const one = delivery(changes);
  return { [`GET ${api}/entregas/${one.id}`]: { json: one }, ...registered, ...more };
};
const allLists = (reply: Replies[string]) =>
  Object.fromEntries(EVENT_NAMES.map(name => [`GET /v1/webhooks/${name}/entregas`, reply]));
const registered = { [`GET ${api}`]: { json: webhook() } };
const causes = Object.values(failureCauses).map(({ word }) => word);
const deliveryPath = `${own}/deliveries/${delivery().id}`;
const aTest = { id: `teste_${'b'.repeat(22)}` };

describe('the list of webhooks', () => {
  it('shows all eight events, and each event that a later release adds', async () => {
    const later = webhook();
    const { text } = await walkWith(listed({ ...later, evento: 'fatura.paga' as 'demanda.criada' }));
    const page = await text('/');
    for (const name of [...EVENT_NAMES, 'fatura.paga']) expect(page).toContain(name);
    expect(eventNames).toEqual([...EVENT_NAMES]);
  });

  it.each([
    [{}, 'Healthy', ''],
    [{ falhando_desde: hourAgo, lento_desde: hourAgo }, 'Failing', 'Failing since Nov 28'],
    [{ lento_desde: hourAgo }, 'Slow', 'more than 2 s'],
    [{ estado: 'suspenso', motivo_suspensao: 'gone' }, 'Suspended', '410 Gone'],
    [{ estado: 'suspenso', motivo_suspensao: 'sem_sucesso' }, 'Suspended', 'for five days'],
    [{ estado: 'suspenso', motivo_suspensao: 'operador' }, 'Suspended', 'Only an operator can reactivate this webhook'],
  ] as const)('shows the most serious state of a webhook: %j is %s', async (changes, word, meaning) => {
    const { text } = await walkWith({ ...listed(webhook(changes)), [`GET ${api}/entregas`]: list([delivery()]) });
    const page = await text('/');
    expect(page).toContain(word);
    expect(page).toContain(meaning);
    expect(page.includes('Needs attention: demanda.criada')).toBe(word !== 'Healthy');
  });

  it('reports that all webhooks are healthy only if every event has a healthy webhook with a delivery', async () => {
    const all = EVENT_NAMES.map(evento => webhook({ evento }));
    const tried = allLists(list([delivery()]));
    const verdict = 'every webhook is healthy';
    const page = async (webhooks: typeof all, replies: Replies = {}) =>
      (await walkWith({ ...listed(...webhooks), ...tried, ...replies })).text('/');
    expect(await page(all)).toContain(verdict);
    expect(await page(all.slice(1))).toContain('7 of 8 events');
    expect(await page([...all.slice(1), webhook({ estado: 'suspenso' })])).not.toContain(verdict);
    const earlier = list([delivery({ criado_em: '2026-10-01T00:00:00.000Z' })]);
    const untried = await page(all, { [`GET ${api}/entregas`]: earlier });
    expect(untried).not.toContain(verdict);
    expect(untried).toContain('No result yet');
  });

  const failed = delivery({ estado: 'falhou', ultimo_resultado: 'http' });
  const held = delivery({ estado: 'retida', ultimo_resultado: null });
  it.each([
    ['no list can be loaded', problem(503, 'temporarily_unavailable'), 'Unknown'],
    ['the latest result is a failed test', list([failed]), 'Latest delivery failed'],
    ['deliveries are held', list([held]), 'Has held deliveries'],
    ['some deliveries are held and others delivered', list([delivery(), held]), 'Has held deliveries'],
  ])('reports no healthy webhook if %s', async (_, reply, word) => {
    const lists = allLists(reply);
    const { text } = await walkWith({ ...listed(...EVENT_NAMES.map(evento => webhook({ evento }))), ...lists });
    const page = await text('/');
    expect(page).not.toMatch(/healthy/i);
    expect(page.split(` ${word} `).length).toBe(9);
  });

  it('shows the last result of a failing webhook with advice', async () => {
    const failed = delivery({ estado: 'pendente', tentativas: [attempt({ resultado: 'http', status: 401 })] });
    const failing = webhook({ falhando_desde: hourAgo });
    const { text } = await walkWith({
      ...listed(failing),
      ...read(failed, { [`GET ${api}`]: { json: failing } }),
      [`GET ${api}/entregas`]: list([failed]),
    });
    for (const page of ['/', own])
      expect(await text(page)).toContain(`Last result: returned 401 . ${en.statusAdvice[401]}`);
  });

  it('shows the latest delivery, dropped events, and errors for parts that cannot be loaded', async () => {
    const json = {
      webhooks: [webhook(), webhook({ evento: 'demanda.cancelada' })],
      eventos_sem_webhook: [{ evento: 'mensagem.recebida', ultimo_em: hourAgo }],
    };
    const { text } = await walkWith({
      'GET /v1/webhooks': { json },
      [`GET ${api}/entregas`]: list([failed]),
      'GET /v1/webhooks/demanda.cancelada/entregas': problem(503, 'temporarily_unavailable'),
    });
    const page = await text('/');
    expect(page).toMatch(/demanda.criada Latest delivery failed.*Failed.*mensagem.recebida.*demanda.cancelada Unknown/);
    expect(page).toMatch(
      /demanda.cancelada.*Could not load this data. Rejected: temporarily_unavailable. requisicao: req-1/,
    );
    expect(page).toContain('The latest event was dropped 60 min. ago');
    expect(page).toContain('Needs attention: demanda.criada , mensagem.recebida');
  });
});

describe('the webhook page', () => {
  const many = (count: number) => ({
    ...registered,
    [`GET ${api}/entregas`]: ({ path }: { path: string }) => {
      const query = new URL(path, 'http://x').searchParams;
      const from = Number(query.get('cursor') ?? 0);
      const size = Number(query.get('limite'));
      const all = Array.from({ length: Math.max(0, Math.min(size, count - from)) }, (_, at) =>
        delivery({
          id: `evt_${String(from + at).padStart(27, '0')}`,
          criado_em: new Date(now - (from + at) * 10_000).toISOString(),
        }),
      );
      return list(all, from + size < count ? String(from + size) : null);
    },
  });

  it('counts at most 2,400 of 100,000 deliveries, reports the limit, and stays below 100 kB', async () => {
    const { fake, open } = await walkWith(many(100_000));
    const page = await open(`${own}?range=30d`);
    expect(textOf(page)).toContain('The chart shows at most 2,400 deliveries.');
    expect(textOf(page)).toContain('2,400 deliveries counted');
    expect(fake.calls.length).toBe(24 + 1 + 1 + 1 + 1 + 20); // chart, webhook, list, latest, held, details
    expect(page.html.length).toBeLessThan(100_000);
  });

  it.each([0, 1, 99, 100, 101, 2_400])('counts all of %i deliveries', async count => {
    const { text } = await walkWith(many(count));
    const page = await text(`${own}?range=30d`);
    expect(page).toContain(count === 1 ? '1 delivery counted' : `${count.toLocaleString('en')} deliveries counted`);
    expect(page.includes('at most 2,400')).toBe(false);
  });

  it('reports an error during the count, and shows the partial count', async () => {
    const works = many(500)[`GET ${api}/entregas`];
    const { text } = await walkWith({
      ...many(500),
      [`GET ${api}/entregas`]: call =>
        call.path.includes('cursor=200')
          ? problem(429, 'rate_limited', { detail: 'Too many.' })
          : (works as (call: unknown) => object)(call),
    });
    const page = await text(`${own}?range=30d`);
    expect(page).toContain('200 deliveries counted');
    expect(page).toContain('Could not load this data. Too many. requisicao: req-1');
  });

  it('shows the other parts if the chart, the list or a delivery cannot be loaded', async () => {
    const { text } = await walkWith({
      ...registered,
      [`GET ${api}/entregas`]: problem(503, 'temporarily_unavailable'),
    });
    expect((await text(own)).match(/Could not load this data/g)?.length).toBe(2);
    const listOnly = await walkWith({ ...registered, [`GET ${api}/entregas`]: list([delivery()]) });
    expect(await listOnly.text(own)).toContain('Could not load the details of 1 delivery.');
  });

  it('lists the IDs in each body, and marks tests', async () => {
    const test = delivery({ ...aTest, corpo: '{"id_demanda":0}' });
    const proposal = delivery({ corpo: '{"id_proposta":77,"id_demanda":4711}' });
    const { text } = await walkWith({
      ...registered,
      [`GET ${api}/entregas`]: list([proposal, test]),
      [`GET ${api}/entregas/${proposal.id}`]: { json: proposal },
      [`GET ${api}/entregas/${test.id}`]: { json: test },
    });
    expect(await text(own)).toMatch(/4711 77 .*evt_a+ .*test – .*teste_b+/);
  });

  it('shows no chart without deliveries, and shows when an event without a webhook was dropped', async () => {
    const eventos_sem_webhook = [{ evento: event, ultimo_em: hourAgo }];
    const dropped = { 'GET /v1/webhooks': { json: { webhooks: [], eventos_sem_webhook } } };
    const page = await (await walkWith(dropped)).open(own);
    expect(textOf(page)).toContain('The latest event was dropped 60 min. ago');
    expect(textOf(page)).not.toContain('Send a test to see');
    expect(page.html).not.toMatch(/id="chart"|class="chip"/);
    const empty = textOf(await (await walkWith(registered)).open(own));
    expect(empty).toContain('Send a test to see a delivery.');
  });

  it('lists the chosen deliveries, and counts all deliveries in the same period', async () => {
    const { fake, open } = await walkWith(registered);
    await open(`${own}?state=falhou&since=2026-01-01T00:00:00Z&until=2026-11-20T00:07:00Z&cursor=c1`);
    const queries = fake.calls
      .map(({ path }) => Object.fromEntries(new URL(path, 'http://x').searchParams))
      .filter(({ desde }) => desde !== undefined)
      .toSorted((one, other) => Number(one.limite) - Number(other.limite));
    const time = { desde: '2026-01-01T00:00:00.000Z', ate: '2026-11-20T00:07:00.000Z' };
    expect(queries).toEqual([
      { estado: 'falhou', ...time, cursor: 'c1', limite: '20' },
      { ...time, limite: '100' },
    ]);
  });

  it.each([
    ['state=lost', 'state=lost'],
    ['range=1y', 'range=1y'],
    ['since=yesterday', 'since=yesterday'],
    ['since=2026-11-28T12:00:00Z&until=2026-11-28T11:00:00Z', 'since=2026-11-28T12:00:00Z, until=2026-11-28T11:00:00Z'],
  ])('reports the invalid parameters in ?%s', async (query, filters) => {
    const { text } = await walkWith(registered);
    expect(await text(`${own}?${query}`)).toContain(`Ignored invalid filters: ${filters}`);
  });

  it('returns 404 for an unknown event, and shows the history of a deleted webhook', async () => {
    expect((await (await walkWith({})).open('/webhooks/fatura.paga')).status).toBe(404);
    expect(await (await walkWith({})).text(own)).toMatch(/Register .*This event has no webhook\./);
    const { text } = await walkWith({ [`GET ${api}/entregas`]: list([delivery()]) });
    expect(await text(own)).toContain('Deliveries of an earlier webhook remain for 30 days.');
  });
});

describe('the delivery page', () => {
  const due = { estado: 'pendente', proxima_tentativa_em: '2026-11-28T11:59:46.000Z' } as const;
  const soon = { estado: 'pendente', proxima_tentativa_em: '2026-11-28T12:00:38.000Z' } as const;
  const thirdAttempt = attempt({ numero: 3, resultado: 'http', status: 500, resposta: 'oops' });
  it.each([
    [{ tentativas: [attempt()] }, 'Delivered Your server returned 200 on attempt 1'],
    [{ ...due, tentativas: [] }, 'Pending Attempt 1 is running or queued'],
    [{ ...due, tentativas: [thirdAttempt] }, 'Pending Attempt 4 is running or queued'],
    [{ ...soon, tentativas: [thirdAttempt] }, 'Pending Attempt 3: your server returned 500. Next attempt in 38 sec.'],
    [
      { estado: 'pendente', tentativas: [attempt({ resultado: 'lenta', status: null })] },
      'Attempt 1: slow, retried with a longer timeout',
    ],
    [
      { estado: 'falhou', tentativas: [attempt({ ...thirdAttempt, numero: 10 })] },
      'Failed Gave up after attempt 10: your server returned 500',
    ],
    [{ estado: 'falhou', tentativas: [thirdAttempt] }, 'Failed Gave up after attempt 3: your server returned 500'],
    [
      { ...aTest, estado: 'falhou', tentativas: [attempt({ ...thirdAttempt, numero: 1 })] },
      'Failed Gave up after attempt 1: your server returned 500',
    ],
    [{ estado: 'falhou', tentativas: [] }, 'Failed 10 days passed without an attempt'],
    [{ estado: 'retida' }, 'Held The webhook was suspended'],
    [{ estado: 'arquivada' as 'cancelada' }, 'arquivada '],
    [{ estado: 'cancelada' }, 'Cancelled The webhook was deleted or registered again'],
  ] as const)('shows the result and its reason in the heading: %j', async (changes, heading) => {
    const shown = changes as Parameters<typeof delivery>[0];
    const { text } = await walkWith(read(shown));
    expect(await text(`${own}/deliveries/${delivery(shown).id}`)).toContain(heading);
  });

  it.each(causes)('gives advice on %s in both languages', async word => {
    const failed = attempt({ resultado: 'conexao', detalhe: word, status: null, resposta: null });
    const { open } = await walkWith(read({ estado: 'pendente', tentativas: [failed] }));
    expect((await open(deliveryPath)).html).toContain(en.advice[word]);
    expect((await open(deliveryPath, { 'accept-language': 'pt' })).html).toContain(pt.advice[word]);
  });

  const advised = { 302: '3xx', 401: '401', 403: '403', 404: '404', 405: '404', 410: '410', 429: '429' } as const;
  const others = { 422: 'other', 503: '5xx' } as const;
  it.each(Object.entries({ ...advised, ...others }))(
    'shows the advice on status %s once, in both languages',
    async (status, key) => {
      const failed = attempt({ resultado: 'http', status: Number(status) });
      const { open } = await walkWith(read({ estado: 'pendente', tentativas: [failed, { ...failed, numero: 2 }] }));
      expect((await open(deliveryPath)).html.split(en.statusAdvice[key]).length).toBe(2);
      expect((await open(deliveryPath, { 'accept-language': 'pt' })).html).toContain(pt.statusAdvice[key]);
    },
  );

  it('escapes markup and invisible characters in a response', async () => {
    const hostile = '<script>alert(1)</script>\u202egnp.exe\u0007"\'&';
    const { open } = await walkWith(read({ corpo: '{"a":"</pre>"}', tentativas: [attempt({ resposta: hostile })] }));
    const { html } = await open(deliveryPath);
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;\\u202egnp.exe\\u0007&quot;&#39;&amp;');
    expect(html).toContain('{&quot;a&quot;:&quot;&lt;/pre&gt;&quot;}');
  });

  const registeredAt = (seconds: string) => webhook({ criado_em: `2026-11-28T10:00:${seconds}Z` });
  it.each([
    ['a delivery of the current registration', {}, webhook(), 'Resend'],
    ['a test', aTest, webhook(), 'Send another test'],
    ['a delivery without a webhook', {}, undefined, 'There is no webhook to resend this delivery to.'],
    ['an older delivery', {}, registeredAt('00.501'), 'This delivery belongs to an earlier registration'],
    ['a delivery that appears to be 500 ms older than the registration', {}, registeredAt('00.500'), 'Resend'],
    ['a delivery of a suspended webhook', {}, webhook({ estado: 'suspenso' }), 'Reactivate the webhook first.'],
  ])('offers only actions that the API would accept: %s', async (_, changes, record, shown) => {
    const reply = record ? { json: record } : problem(404, 'webhook_not_found');
    const { open } = await walkWith(read(changes, { [`GET ${api}`]: reply }));
    const page = await open(`${own}/deliveries/${delivery(changes).id}`);
    expect(textOf(page)).toContain(shown);
    expect(page.html.includes('/resend"')).toBe(shown === 'Resend');
  });
});

describe('a registration', () => {
  const secret = ({ body }: { body: string }) => ({ status: 201, json: { segredo: `whsec_of_${eventOf(body)}` } });
  const eventOf = (body: string) => JSON.parse(body).evento;

  it('shows the secret once', async () => {
    const { post, text } = await walkWith({ 'POST /v1/webhooks': secret, ...registered });
    const page = await post('/register', { evento: event, url: 'https://hooks.example.com/a' });
    expect([page.path, textOf(page)]).toEqual([own, expect.stringContaining('whsec_of_demanda.criada')]);
    expect(await text(own)).not.toContain('whsec_');
  });

  it('of all missing events calls the API once for each event, and shows each secret', async () => {
    const { fake, post } = await walkWith({ ...listed(webhook()), 'POST /v1/webhooks': secret });
    const page = await post('/register', { evento: '*', url: 'https://hooks.example.com/a', autorizacao: 'Bearer x' });
    const bodies = fake.calls.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body));
    expect(bodies).toEqual(
      EVENT_NAMES.slice(1).map(evento => ({ evento, url: 'https://hooks.example.com/a', autorizacao: 'Bearer x' })),
    );
    for (const name of EVENT_NAMES.slice(1)) expect(page.html).toContain(`whsec_of_${name}<`);
  });

  it('shows the secret on the next page that does not redirect', async () => {
    const { fake, post, open } = await walkWith({ 'POST /v1/webhooks': secret });
    await post('/register', { evento: event, url: 'https://hooks.example.com/a' }, { 'x-stay': 'yes' });
    const webhooks = EVENT_NAMES.map(evento => webhook({ evento }));
    fake.replies['GET /v1/webhooks'] = { json: { webhooks, eventos_sem_webhook: [] } };
    expect(textOf(await open('/register'))).toContain('whsec_of_demanda.criada');
  });

  it('that fails midway shows the previous secrets and the error', async () => {
    let callCount = 0;
    const { post } = await walkWith({
      'POST /v1/webhooks': call => (callCount++ < 2 ? secret(call) : problem(429, 'rate_limited')),
    });
    const page = textOf(await post('/register', { evento: '*', url: 'https://hooks.example.com/a' }));
    expect(page).toMatch(/demanda.finalizada was not registered. Rejected: rate_limited/);
    expect(page.match(/whsec_of_/g)?.length).toBe(2);
  });

  it('interrupted by the end of the session shows the previous secrets only to the same user', async () => {
    let callCount = 0;
    const { fake, post, open, signIn } = await walkWith({
      'POST /v1/webhooks': call => (callCount++ < 2 ? secret(call) : problem(401, 'invalid_token')),
    });
    const signInAs = async (sub: string) => {
      fake.replies['POST /oauth/v1/token'] = { json: tokens({ sub }) };
      return textOf(await signIn(credentials));
    };
    for (const sub of ['u1', 'u2']) {
      callCount = 0;
      fake.replies['POST /oauth/v1/token'] = { status: 400, json: { error: 'invalid_grant' } };
      const page = await post('/register', { evento: '*', url: 'https://hooks.example.com/a' });
      expect([page.status, page.html.includes('whsec_')]).toEqual([401, false]);
      expect((await open('/nowhere')).html).not.toContain('whsec_');
      expect((await signInAs(sub)).match(/whsec_of_/g)?.length).toBe(sub === 'u1' ? 2 : undefined);
    }
  });

  it('shows all errors for a field below the field, and keeps the entered value', async () => {
    const errors = [
      { pointer: '/url', code: 'url_not_https', detail: 'Not https.' },
      { pointer: '/url', code: 'url_not_public', detail: 'A single label.' },
      { pointer: '/autorizacao', code: 'invalid_value', detail: 'Not ASCII.' },
    ];
    const { post } = await walkWith({ 'POST /v1/webhooks': problem(422, 'validation_failed', { errors }) });
    const { status, html } = await post('/register', { evento: event, url: 'http://x' });
    expect(status).toBe(422);
    expect(html).toMatch(/value="http:\/\/x"[^>]*aria-describedby="url-about" aria-invalid="true"/);
    expect(html).toMatch(/id="url-about">Not https. A single label.</);
    expect(html).toMatch(/id="autorizacao-about">Not ASCII.</);
  });

  it('for an event with a webhook links to the webhook', async () => {
    const { post } = await walkWith({ 'POST /v1/webhooks': problem(409, 'webhook_exists') });
    const { html } = await post('/register', { evento: event, url: 'https://x.example.com' });
    expect(html).toContain(`${own}"> Open the webhook for`);
  });
});

describe('a change', () => {
  const set = {
    [`GET ${api}`]: {
      json: webhook({ autorizacao_definida: true, segredos_anteriores: [{ valido_ate: '2026-11-29T10:00:00.000Z' }] }),
    },
    [`PUT ${api}`]: ({ body }: { body: string }) => {
      const { url, autorizacao } = JSON.parse(body);
      const errors = [
        ...(url.startsWith('https:') ? [] : [{ pointer: '/url', detail: 'Not https.' }]),
        ...(autorizacao === '' ? [{ pointer: '/autorizacao', detail: 'Not a header.' }] : []),
      ];
      return errors.length > 0 ? problem(422, 'validation_failed', { errors }) : { json: webhook() };
    },
  };
  it.each([
    ['entered again', { autorizacao: 'Bearer new' }, { url: 'https://x.example.com', autorizacao: 'Bearer new' }],
    ['removed', { remove: 'yes' }, { url: 'https://x.example.com' }],
    ['removed, even if entered again', { remove: 'yes', autorizacao: 'Bearer x' }, { url: 'https://x.example.com' }],
  ])('of a webhook with a header requires the header to be %s', async (_, form, body) => {
    const { fake, post } = await walkWith(set);
    const wrong = await post(`${own}/change`, { url: 'http://x' });
    expect([wrong.status, textOf(wrong)]).toEqual([422, expect.stringMatching(/Not https\..*Enter the header again/)]);
    expect((await post(`${own}/change`, { url: 'https://x.example.com', ...form })).path).toBe(own);
    expect(fake.calls.filter(({ method }) => method === 'PUT').map(put => JSON.parse(put.body))).toEqual([
      { url: 'http://x', autorizacao: '' }, // the API rejects this
      body,
    ]);
  });

  it.each([
    ['https://new.example.com', 'ativo', `${own}?state=retida`, 'Held deliveries stay held until you replay them.'],
    ['https://hooks.example.com/a', 'suspenso', own, 'The change is saved.'],
  ] as const)('of a suspended webhook to the URL %s reports the state %s', async (url, estado, path, message) => {
    const suspended = webhook({ estado: 'suspenso', motivo_suspensao: 'gone' });
    const { fake, post, text } = await walkWith({ [`GET ${api}`]: { json: suspended } });
    expect(await text(`${own}/change`)).toContain('Another URL reactivates the webhook.');
    fake.replies[`PUT ${api}`] = { json: { ...suspended, estado } };
    const page = await post(`${own}/change`, { url });
    expect([page.path, textOf(page)]).toEqual([path, expect.stringContaining(message)]);
  });

  it.each([
    ['yes', true],
    ['no', false],
  ])('of the secret invalidates the old secret immediately if requested: %s', async (immediate, imediato) => {
    const { fake, post, text } = await walkWith({
      ...set,
      [`POST ${api}/segredo`]: { status: 201, json: { segredo: 'whsec_new' } },
    });
    expect(await text(`${own}/secret`)).toContain('Old secrets valid until Nov 29, 2026');
    expect(textOf(await post(`${own}/secret`, { immediate }))).toContain('whsec_new');
    expect(JSON.parse(fake.calls.find(({ path }) => path.endsWith('segredo'))?.body ?? '')).toEqual({ imediato });
  });

  it('without a response from the service is not retried', async () => {
    const gone = () => unanswered('ECONNRESET');
    const { fake, post } = await walkWith({ ...set, [`POST ${api}/reativacao`]: gone });
    const page = await post(`${own}/reactivate`);
    expect([page.path, textOf(page)]).toEqual([own, expect.stringContaining('Check whether the change was made.')]);
    expect(fake.count(/reativacao/)).toBe(1);
  });

  it('that deletes the webhook first shows how many deliveries will be lost', async () => {
    const test = delivery(aTest);
    const { text } = await walkWith({
      ...set,
      [`GET ${api}/entregas`]: ({ path }) =>
        path.includes('pendente')
          ? list([delivery(), test], 'more')
          : path.includes('falhou')
            ? problem(503, 'x')
            : list([]),
    });
    expect(await text(`${own}/delete`)).toMatch(/Pending at least 8 deliveries Failed unknown number .*Delete/);
  });
});

describe('a replay', () => {
  it('requires confirmation of the number of deliveries, which excludes tests', async () => {
    const deliveries = [delivery({ estado: 'falhou' }), delivery({ ...aTest, estado: 'falhou' })];
    const { text } = await walkWith({ ...registered, [`GET ${api}/entregas`]: list(deliveries) });
    expect(await text(`${own}/replay?state=falhou`)).toMatch(/State Failed .* Replay 1 delivery Cancel/);
  });

  it('sends the range, shows its progress, and can be cancelled', async () => {
    let estado = 'em_andamento';
    const { fake, post } = await walkWith({
      ...registered,
      [`POST ${api}/reenvios`]: { status: 202, json: { id: 'r1' } },
      [`GET ${api}/reenvios/r1`]: () => ({ json: { id: 'r1', estado, enviadas: 12 } }),
      [`DELETE ${api}/reenvios/r1`]: { status: 204 },
    });
    const range = { estado: 'falhou', desde: '2026-11-28T10:00:00.000Z', ate: '2026-11-28T11:00:00.000Z' };
    const counted = { count: '800', more: 'yes' };
    const page = textOf(await post(`${own}/replay`, { ...range, ...counted }));
    expect(page).toMatch(
      /The replay has started\..*Replay Running 12 of at least 800 deliveries queued\. More follow within a minute\. Cancel the replay/,
    );
    expect(JSON.parse(fake.calls.find(({ method }) => method === 'POST')?.body ?? '')).toEqual(range);
    await post(`${own}/cancel-replay`, { id: 'r1' });
    expect(fake.count(/^DELETE/)).toBe(1);
    estado = 'concluido';
    await post(`${own}/cancel-replay`, { id: 'r1' });
    expect(fake.count(/^DELETE/)).toBe(1); // a second DELETE would delete its record
  });

  it('excludes deliveries from before the registration', async () => {
    const failed = list([delivery({ estado: 'falhou' })]);
    const { fake, open } = await walkWith({ ...registered, [`GET ${api}/entregas`]: failed });
    const { html } = await open(`${own}/replay?state=falhou`);
    expect(html).toContain(`name="desde" value="${webhook().criado_em}"`);
    expect(fake.calls.at(-1)?.path).toContain(`desde=${encodeURIComponent(webhook().criado_em)}`);
  });

  it.each([
    ['only tests', [delivery({ ...aTest, estado: 'falhou' })], false],
    ['a failed event', [delivery({ estado: 'falhou' })], true],
  ])('is offered for %s: %s', async (_, deliveries, isOffered) => {
    const { open } = await walkWith({ ...registered, [`GET ${api}/entregas`]: list(deliveries) });
    expect((await open(`${own}?state=falhou`)).html.includes('/replay?')).toBe(isOffered);
  });

  it('of a period before the registration is not offered', async () => {
    const { fake, open } = await walkWith(registered);
    const page = await open(`${own}/replay?state=falhou&since=2026-10-01T00:00:00Z&until=2026-10-02T00:00:00Z`);
    expect(textOf(page)).toContain('These deliveries cannot be replayed');
    expect(fake.count(/reenvios/)).toBe(0);
  });

  it('that is already running shows its progress', async () => {
    const running = problem(409, 'replay_in_progress');
    const { post } = await walkWith({
      ...registered,
      [`POST ${api}/reenvios`]: { ...running, headers: { location: `${api}/reenvios/r7` } },
      [`GET ${api}/reenvios/r7`]: { json: { id: 'r7', estado: 'em_andamento', enviadas: 3 } },
    });
    expect(textOf(await post(`${own}/replay`, {}))).toMatch(/already running\..*3 deliveries queued/);
  });

  it.each(['pendente', 'entregue', 'cancelada'])('of deliveries in the state %s is not offered', async state => {
    const { open } = await walkWith(registered);
    expect((await open(`${own}/replay?state=${state}`)).status).toBe(404);
    expect((await open(`${own}?state=${state}`)).html).not.toContain('/replay?');
  });
});

describe('a page for a read-only token', () => {
  const replies = {
    'POST /oauth/v1/token': { json: tokens({ scope: 'webhooks:read' }) },
    ...listed(webhook({ estado: 'suspenso', motivo_suspensao: 'gone' })),
    ...read({ estado: 'falhou' }),
    [`GET ${api}/entregas`]: list([delivery({ estado: 'falhou' })]),
  };
  it.each(['/', '/first-steps', own, `${own}?state=falhou`, deliveryPath])(
    'has no form or button that changes data: %s',
    async path => {
      const { open } = await walkWith(replies);
      const { html } = await open(path);
      const forms = [...html.matchAll(/<form method="post" action="\/[\w-]+(\/[^"]*)"/g)].map(([, action]) => action);
      expect(forms).toEqual(['/sign-out']);
      expect(html).not.toMatch(/class="button/);
      expect(html).toContain('Read-only: this token does not permit changes.');
    },
  );
});

it.each([
  ['a test of an earlier registration', { ...aTest, criado_em: '2026-10-01T00:00:00.000Z' }, 'Complete step 3 first.'],
  ['an event that is not a test', {}, 'Your server accepted the delivery.'],
  ['a pending test', { ...aTest, estado: 'pendente' }, 'Not delivered yet.'],
  ['a held test', { ...aTest, estado: 'retida' }, 'The event was not delivered. The delivery page shows why'],
  ['a delivered test', aTest, 'Your server accepted the delivery.'],
] as const)('the first steps show the result for the latest delivery: %s', async (_, latest, message) => {
  const { text } = await walkWith({ ...listed(webhook()), [`GET ${api}/entregas`]: list([delivery(latest)]) });
  expect(await text('/first-steps')).toContain(message);
});

it.each(['change', 'secret', 'delete'])('the page %s returns 404 for an event without a webhook', async step => {
  const { open } = await walkWith({});
  expect((await open(`/webhooks/demanda.outra/${step}`)).status).toBe(404);
});

it('a missing page links to its parent, and a failed page refreshes and links to itself', async () => {
  const busy = problem(503, 'temporarily_unavailable', { detail: 'Busy.' });
  const { open } = await walkWith({ [`GET ${api}/entregas/evt_busy`]: busy });
  const missing = await open(`${own}/deliveries/evt_x`);
  expect([missing.status, missing.html.includes('role="alert">This')]).toEqual([404, false]);
  expect(missing.html).toMatch(/class="button main" href="[^"]*\/webhooks\/demanda.criada">demanda.criada</);
  expect((await open('/nowhere')).html).toMatch(/class="button main" href="\/[\w-]+\/">Webhooks</);
  const failed = await open(`${own}/deliveries/evt_busy`);
  expect(textOf(failed)).toContain('Busy. requisicao: req-1 Try again');
  expect(failed.html).toMatch(/data-refresh="60".*class="button main" href="[^"]*\/deliveries\/evt_busy">/s);
});

it.each(['..', '.', '%2e%2e', '../..', 'a/b'])('the ID %s never changes the API path', async id => {
  const { fake, open } = await walkWith(registered);
  await open(`${own}/deliveries/${encodeURIComponent(id)}`);
  for (const { path } of fake.calls) expect(path).toMatch(/^\/v1\/webhooks\/demanda\.criada(\/entregas\/[^/]+)?$/);
});

it('each API value has a text in both languages', () => {
  for (const { states, results, advice } of [en, pt]) {
    for (const word of Object.values(wireStates)) expect(states).toHaveProperty(word);
    for (const word of Object.values(wireResults)) expect(results).toHaveProperty(word);
    expect(Object.keys(advice).sort()).toEqual(causes.toSorted());
  }
});
