import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Source } from '../../../../ops/console/api-source.ts';
import type { DeliveryQuery, TallySpan, WebhookView } from '../../../../ops/console/views.ts';
import { answerOf as answer, documentAt as documentOf } from './a-page.ts';
import { aSource, aWebhookView, delivery, done } from './a-source.ts';

beforeAll(() => {
  vi.stubEnv('TZ', 'America/Sao_Paulo');
});
afterAll(() => {
  vi.unstubAllEnvs();
});
beforeEach(() => {
  done.length = 0;
});

const path = '/webhooks/demanda.criada';
const now = Date.UTC(2026, 10, 26, 10, 50);

/** Returns a source of that webhook, but for changes. */
const sourceOf = (changes: Partial<WebhookView> = {}, more: Partial<Source> = {}) =>
  aSource({ findWebhook: async () => aWebhookView(changes), ...more });

type Asked = Parameters<typeof answer>[2];
const answerOf = (path: string, source: Source, more: Asked = {}) => answer(path, source, { now, ...more });
const documentAt = (path: string, source: Source, more: Asked = {}) => documentOf(path, source, { now, ...more });

/** Returns what of deliveries a page asks for: of the chart, and of the list. */
const askedBy = async (query: string) => {
  let span: TallySpan | undefined;
  let list: DeliveryQuery | undefined;
  const text = await documentAt(
    `${path}?${query}`,
    sourceOf(
      {},
      {
        tally: async asked => {
          span = asked;
          return { counts: { delivered: [], failed: [], open: [] }, reached: undefined };
        },
        listDeliveries: async asked => {
          list = asked;
          return { deliveries: [], next: null };
        },
      },
    ),
  );
  const at = (time: number | undefined) => time && new Date(time).toISOString();
  return { text, from: at(span?.from), until: at(span?.until), step: span?.step, list };
};

describe('the headline', () => {
  it.each([
    [{}, 'Healthy'],
    [{ failingSince: '2026-11-22T10:00:00.000Z' }, 'Failing'],
    [{ slowSince: '2026-11-26T10:00:00.000Z' }, 'Slow'],
    [{ status: 'suspenso', reason: 'gone' }, 'Suspended'],
  ])('says how it does: %j', async (changes, word) => {
    const text = await documentAt(path, sourceOf(changes));
    expect(/<h1>(.*?)<\/h1>/.exec(text)?.[1]).toContain(`>${word}</span>`);
  });
});

describe('the time', () => {
  it.each([
    ['', '2026-11-25T11:00:00.000Z', '2026-11-26T11:00:00.000Z', 30, undefined, undefined],
    ['range=1h', '2026-11-26T09:51:00.000Z', '2026-11-26T10:51:00.000Z', 1, '2026-11-26T09:51:00.000Z', undefined],
    // Steps of hours begin at midnight of this machine, three hours after that of UTC.
    ['range=7d', '2026-11-19T11:00:00.000Z', '2026-11-26T11:00:00.000Z', 240, '2026-11-19T11:00:00.000Z', undefined],
    ['range=30d', '2026-10-27T15:00:00.000Z', '2026-11-26T15:00:00.000Z', 720, '2026-10-27T15:00:00.000Z', undefined],
    // What a field sends is this machine's time; an address of ours says its zone.
    [
      'since=2026-11-22T07:00&until=2026-11-22T17:00Z',
      ...(['2026-11-22T10:00:00.000Z', '2026-11-22T17:00:00.000Z', 10] as const),
      ...(['2026-11-22T10:00:00.000Z', '2026-11-22T17:00:00.000Z'] as const),
    ],
    // A bar that was clicked narrows the list, and the chart stays.
    [
      'range=24h&since=2026-11-26T10:00Z&until=2026-11-26T10:30Z',
      ...(['2026-11-25T11:00:00.000Z', '2026-11-26T11:00:00.000Z', 30] as const),
      ...(['2026-11-26T10:00:00.000Z', '2026-11-26T10:30:00.000Z'] as const),
    ],
  ])('of %s is that of the chart, and of the list', async (query, from, until, minutes, since, before) => {
    const asked = await askedBy(query);
    expect(asked).toMatchObject({ from, until, step: minutes * 60_000 });
    expect([asked.list?.since, asked.list?.until]).toEqual([since, before]);
  });

  it.each([
    ['state=bogus', 'state=bogus'],
    ['range=2h', 'range=2h'],
    ['since=2026-02-31', 'since=2026-02-31'],
    ['until=2026-11-22T25:00', 'until=2026-11-22T25:00'],
    ['since=2026-11-22T10:00Z&until=2026-11-22T10:00Z', 'The time must end after it begins.'],
  ])('that is none is said: %s', async (query, said) => {
    const { text, list } = await askedBy(query);
    expect(text).toContain('Not understood, and left out:');
    expect(text).toContain(said);
    expect(list).toBeUndefined(); // the latest are shown, as without a filter
  });

  it('that is chosen stands in the address of each chip, and in the form', async () => {
    const { text } = await askedBy('state=falhou&range=7d');
    expect(text).toContain(`<a class="chip" aria-current="true" href="/x${path}?state=falhou&amp;range=7d">7 d</a>`);
    expect(text).toContain(
      `<a class="chip" aria-current="true" href="/x${path}?state=falhou&amp;range=7d#list">Failed</a>`,
    );
    expect(text).toContain(`<a class="chip" href="/x${path}?state=retida&amp;range=7d#list">Held</a>`);
    expect(text).toContain('<input type="hidden" name="state" value="falhou">');
    expect((await askedBy('since=2026-11-22T10:00Z')).text).toContain('name="since" value="2026-11-22T07:00"');
  });

  it('of a place in the list that is none is said', async () => {
    const listDeliveries = () => Promise.reject(new Error('The list has no place "x".'));
    const text = await documentAt(`${path}?cursor=x`, sourceOf({}, { listDeliveries }));
    expect(text).toContain('Could not be read: The list has no place &quot;x&quot;.');
  });
});

describe('the chart', () => {
  const tally = async ({ from, until, step }: TallySpan) => {
    const none = Array.from({ length: (until - from) / step }, () => 0);
    return {
      counts: { delivered: none.with(1, 1_234), failed: none.with(1, 5), open: none.with(47, 2) },
      reached: undefined,
    };
  };

  it('leads from each bar to its deliveries, and says its numbers in a table too', async () => {
    const text = await documentAt(path, sourceOf({}, { tally }));
    const address = '?range=24h&amp;since=2026-11-25T11%3A30Z&amp;until=2026-11-25T12%3A00Z#list';
    expect(text).toMatch(
      new RegExp(
        `<a href="${address.replaceAll('?', '\\?')}" tabindex="-1"><svg[^>]*><title>Nov 25, 08:30.*09:00\nDelivered: 1234\nFailed: 5</title>`,
      ),
    );
    expect(text).toMatch(/09:00<\/time><\/a><td class="number">1,234<td class="number">0<td class="number">5</);
    expect(text.match(/<a href="\?[^"]*" tabindex="-1"/g)).toHaveLength(48);
    expect(text).toContain('local time, UTC-3');
    expect(text).not.toMatch(/ style="/); // the policy forbids it
  });

  it('says how many it counted where the calls do not reach the end, and leads from no bar before', async () => {
    const reached = Date.UTC(2026, 10, 26, 10, 10);
    const text = await documentAt(path, sourceOf({}, { tally: async span => ({ ...(await tally(span)), reached }) }));
    expect(text).toMatch(/Counted were the latest <b>1,241<\/b> since <time datetime="2026-11-26T10:10:00.000Z"/);
    expect(text.match(/: not counted<\/title>/g)).toHaveLength(46);
    expect(text.match(/<a href="\?[^"]*" tabindex="-1"/g)).toHaveLength(2);
    expect(text).toContain('</time>: a page counts no further back.');
  });

  it('says why the count ended where it is not the calls', async () => {
    const ended = { reached: Date.UTC(2026, 10, 26, 10, 10), unread: new Error('busy') };
    const source = sourceOf({}, { tally: async span => ({ ...(await tally(span)), ...ended }) });
    expect(await documentAt(path, source)).toContain('</time>: what came before could not be read: busy');
  });

  it('says of the bar in which the count ends the part that was counted, and leads to it', async () => {
    const reached = Date.UTC(2026, 10, 26, 10, 40);
    const counts = async (span: TallySpan) => {
      const { counts: none } = await tally(span);
      return { counts: none, reached };
    };
    const text = await documentAt(path, sourceOf({}, { tally: counts }));
    expect(text).toContain('since=2026-11-26T10%3A40Z&amp;until=2026-11-26T11%3A00Z#list" tabindex="-1"');
    expect(text).toMatch(/<title>Nov 26, 07:40.*08:00\nWaiting, held or cancelled: 2<\/title>/);
  });

  it('names the days where the clock was put forward in between', async () => {
    vi.stubEnv('TZ', 'America/New_York'); // on the 8th of March
    try {
      const source = sourceOf(
        {},
        {
          tally: async ({ from, until, step }: TallySpan) => {
            const ones = Array.from({ length: (until - from) / step }, () => 1);
            return { counts: { delivered: ones, failed: ones, open: ones }, reached: undefined };
          },
        },
      );
      const text = await documentAt(`${path}?range=7d`, source, { now: Date.UTC(2026, 2, 11, 17) });
      const days = [...text.matchAll(/text-anchor="(?:middle|end)">(\w+ \d+)</g)].map(([, day]) => day);
      expect(days).toEqual(['Mar 5', 'Mar 6', 'Mar 7', 'Mar 8', 'Mar 9', 'Mar 10', 'Mar 11']);
    } finally {
      vi.stubEnv('TZ', 'America/Sao_Paulo');
    }
  });

  it('says that it could not be counted, and takes no other part down', async () => {
    const text = await documentAt(path, sourceOf({}, { tally: () => Promise.reject(new Error('throttled')) }));
    expect(text).toContain('Could not be read: throttled');
    expect(text).toContain(delivery.id);
  });
});

it('a page with a full chart and a full list is under 100 kB', async () => {
  const deliveries = Array.from({ length: 20 }, () => delivery);
  const tally = async ({ from, until, step }: TallySpan) => {
    const many = Array.from({ length: (until - from) / step }, () => 1_234_567);
    return { counts: { delivered: many, failed: many, open: many }, reached: undefined };
  };
  const list = async () => ({ deliveries, next: 'x'.repeat(200) });
  const text = await documentAt(`${path}?state=falhou&range=30d`, sourceOf({}, { tally, listDeliveries: list }));
  expect(Buffer.byteLength(text)).toBeLessThan(100_000);
});

describe('an empty page of the list', () => {
  it.each([
    ['', 'x', 'None on this page; there may be older ones.'],
    ['?state=falhou', 'x', 'None on this page; there may be older ones.'],
    ['?state=falhou', null, 'No delivery matches.'],
    ['', null, undefined], // 404: there is nothing of that name
  ])('says whether there are older ones, also where the webhook is gone: %j, %j', async (query, next, said) => {
    const list = async () => ({ deliveries: [], next, timed: [] });
    const source = sourceOf({}, { findWebhook: async () => undefined, listDeliveries: list, latestDeliveries: list });
    const shown = documentAt(`${path}${query}`, source);
    if (said === undefined) return await expect(shown).rejects.toThrow('That is not there');
    expect(await shown).toContain(said);
    expect((await shown).includes('cursor=x')).toBe(next !== null);
  });
});

describe('how quick it is', () => {
  it('is said of as many deliveries as were read', async () => {
    const timed = Array.from({ length: 100 }, (_, at) => ({
      ...delivery,
      made: [
        {
          ...{ number: 1, result: 'http', detail: null, status: 503, answer: null },
          startedAt: new Date(Date.parse(delivery.createdAt) + at * 100).toISOString(),
          durationMs: at,
        },
      ],
    }));
    const latestDeliveries = async () => ({ deliveries: [delivery], next: null, timed });
    const text = await documentAt(path, sourceOf({}, { latestDeliveries }), { language: 'pt' });
    expect(text).toContain('Das últimas 100 entregas');
    const figures = [...text.matchAll(/([\d,]+ m?s) <small>(p\d+)<\/small>/g)].map(([, ...figure]) => figure.join(' '));
    expect(figures).toEqual(['4,9 s p50', '9,8 s p99', '49 ms p50', '98 ms p99']);
  });

  it('is said to be unread where no delivery could be read', async () => {
    const unread = { deliveries: [delivery], next: null, timed: [], unread: new Error('busy') };
    const text = await documentAt(path, sourceOf({}, { latestDeliveries: async () => unread }));
    expect(text).toMatch(/<section id="speed"[^>]*><p class="note trouble">Could not be read: busy<\/p>/);
  });
});

describe('the buttons', () => {
  const actionsOf = async (source: Source, query = '') => {
    const text = await documentAt(`${path}${query}`, source);
    return [...text.matchAll(/(?:action|class="button" href)="\/x[^"]*demanda\.criada\/([^"?]+)/g)].map(
      ([, name]) => name,
    );
  };

  it.each([
    ['an active one', {}, ['test', 'settings']],
    ['one that is gone', { status: 'suspenso', reason: 'gone' }, ['reactivate', 'test', 'settings']],
    ['one that an operator suspended', { status: 'suspenso', reason: 'operador' }, ['settings']],
  ])('of %s are those that are not refused', async (_, changes, actions) => {
    expect(await actionsOf(sourceOf(changes))).toEqual(actions);
    expect(await actionsOf({ ...sourceOf(changes), mayChange: false })).toEqual([]);
  });

  it('end no suspension by an operator: the page says whom to ask', async () => {
    expect(await documentAt(path, sourceOf({ status: 'suspenso', reason: 'operador' }))).toContain('ask support');
    expect(await documentAt(path, sourceOf({ status: 'suspenso', reason: 'gone' }))).not.toContain('ask support');
  });

  it.each([
    ['', false],
    ['?state=entregue', false],
    ['?state=falhou', true],
    ['?state=retida&range=7d', true],
  ])('of a replay stands beside a state that is sent again: %j', async (query, stands) => {
    expect((await actionsOf(sourceOf(), query)).includes('replay')).toBe(stands);
    for (const source of [sourceOf({ status: 'suspenso', reason: 'gone' }), { ...sourceOf(), mayChange: false }]) {
      expect((await actionsOf(source, query)).includes('replay')).toBe(false);
    }
  });

  it('of a test leads to its delivery', async () => {
    const answer = await answerOf(`${path}/test`, sourceOf(), { form: {} });
    expect(answer).toMatchObject({ location: `${path}/deliveries/${delivery.id}` });
  });
});

describe('a replay', () => {
  const running = { id: 'reenvio_1', isRunning: true, state: 'em_andamento', sent: 37 };

  it('is asked for with the number that matches: of this registration only, and by few calls', async () => {
    let since: string | undefined;
    const countMatching: Source['countMatching'] = async range => {
      since = range.since;
      return { count: 40_000, isCutOff: true };
    };
    const text = await documentAt(`${path}/replay?state=falhou&range=30d`, sourceOf({}, { countMatching }));
    expect(since).toBe(aWebhookView().createdAt);
    expect(text).toContain('<b>40000</b> or more');
    expect(text).toContain(`href="/x${path}?state=falhou&amp;range=30d">Cancel</a>`);
    expect(text).toContain('<input type="hidden" name="filter" value="state=falhou&amp;range=30d">');
    await expect(answerOf(`${path}/replay?state=entregue`, sourceOf())).rejects.toThrow('Choose the state');
    const suspended = sourceOf({ status: 'suspenso', reason: 'gone' });
    await expect(answerOf(`${path}/replay?state=falhou`, suspended)).rejects.toThrow('reactivate it first');
  });

  it('without times is of all since the registration: what failed after days is kept for longer than a month', async () => {
    const createdAt = '2026-08-01T10:00:00.000Z';
    let since: string | undefined;
    const countMatching: Source['countMatching'] = async range => {
      since = range.since;
      return { count: 1, isCutOff: false };
    };
    const text = await documentAt(`${path}/replay?state=falhou`, sourceOf({ createdAt }, { countMatching }));
    expect(since).toBe(createdAt);
    expect(text).toContain(`name="since" value="${createdAt}"`);
  });

  it('is asked for where only tests were reached, which take up the calls of the count and are not sent', async () => {
    const question = `${path}/replay?state=falhou`;
    const counting = (isCutOff: boolean) => sourceOf({}, { countMatching: async () => ({ count: 0, isCutOff }) });
    expect(await documentAt(question, counting(true))).toContain('<b>0</b> or more');
    await expect(answerOf(question, counting(false))).rejects.toThrow('None of these can be sent again');
  });

  it.each([
    'since=2026-11-10T00:00Z&until=2026-11-12T00:00Z',
    'until=2026-11-20T10:00Z', // a range without its end
    'since=2026-12-01T00:00Z',
  ])(
    'of a time that has nothing of this registration is none, and asks no range that ends before it begins: %s',
    async times => {
      const countMatching = () => Promise.reject(new Error('asked'));
      const asked = answerOf(`${path}/replay?state=falhou&${times}`, sourceOf({}, { countMatching }));
      await expect(asked).rejects.toThrow('None of these can be sent again');
    },
  );

  it('leads to its progress, over the list as it was', async () => {
    const form = {
      ...{ state: 'falhou', since: '2026-11-20T10:00:00.000Z', until: '2026-11-26T10:50:00.000Z' },
      filter: 'state=falhou&range=30d',
    };
    const answer = await answerOf(`${path}/replay`, sourceOf(), { form });
    expect(done).toEqual(['replay falhou 2026-11-20T10:00:00.000Z 2026-11-26T10:50:00.000Z']);
    expect(answer).toMatchObject({
      location: `${path}?state=falhou&range=30d&replay=reenvio_0123456789012345678901`,
    });
  });

  it('that is under way shows how far it is, and is cancelled', async () => {
    const source = sourceOf({}, { findReplay: async () => running });
    const text = await documentAt(`${path}?state=falhou`, source);
    expect(text).toContain('37 sent again.');
    expect(text).toContain(`action="/x${path}/replay/cancel"><input type="hidden" name="once"`);
    expect(await documentAt(path, { ...source, mayChange: false })).not.toContain('replay/cancel');
    const answer = await answerOf(`${path}/replay/cancel`, source, { form: { replay: 'reenvio_1', state: 'falhou' } });
    expect(done).toEqual(['cancel reenvio_1']);
    expect(answer).toMatchObject({ location: `${path}?state=falhou&replay=reenvio_1` });
  });

  it('that could not be read is said: it may be under way', async () => {
    const text = await documentAt(path, sourceOf({}, { findReplay: () => Promise.reject(new Error('throttled')) }));
    expect(text).toContain('Could not be read: throttled');
    expect(text).toContain(delivery.id);
  });

  it('that has ended is shown to who began it alone', async () => {
    const ended = { ...running, isRunning: false, state: 'cancelado' };
    const source = sourceOf({}, { findReplay: async () => ended });
    expect(await documentAt(path, source)).not.toContain('The replay was cancelled');
    expect(await documentAt(`${path}?replay=reenvio_1`, source)).toContain('The replay was cancelled');
  });
});
