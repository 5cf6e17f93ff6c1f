import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { EVENT_NAMES } from '../../../../lambdas/webhooks/webhook.ts';
import { Html } from '../../../../ops/console/html.ts';
import { mostShown } from '../../../../ops/console/operator/events.ts';
import { documentOf } from '../../../../ops/console/page.ts';
import { causeText } from '../../../../ops/console/pages/events.ts';
import { answerPage } from '../../../../ops/console/pages/pages.ts';
import type { OperatorSource } from '../../../../ops/console/source.ts';
import type { Cause } from '../../../../ops/deliveries/event-verdict.ts';
import { aContext, aSource } from './a-source.ts';

const at = '2026-11-22T10:00:00.000Z';
const now = Date.parse('2026-11-22T12:00:00.000Z');
const attempt = { number: 3, result: 'http', status: 503 };
const ids = { deliveryId: 'evt_0123456789abcdefghijklmnopq', messageId: 'm-1' };
const webhook = '/x/accounts/acme/webhooks/demanda.criada';

const contextIn = (language: 'en' | 'pt', query = '', operator = aSource().operator as OperatorSource) =>
  aContext(aSource({ operator }), `/accounts/acme/events?${query}`, language, now);
const listOf = (cause: Cause, changes: object = {}) => ({
  ...{ since: at, logSince: at, looked: 1, isCutOff: false, found: 1, queued: undefined as number | undefined },
  events: [{ at, event: 'demanda.criada', ...ids, fate: 'held' as const, cause }],
  ...changes,
});
const show = async (list: ReturnType<typeof listOf>, query = '', asked: unknown[] = []) => {
  const operator = {
    ...(aSource().operator as OperatorSource),
    listEvents: async (...given: unknown[]) => {
      asked.push(...given);
      return list;
    },
  };
  const answer = await answerPage(contextIn('en', query, operator), null);
  if ('location' in answer) throw new Error('A page answers.');
  return answer.content.text;
};

const causes: readonly (readonly [cause: Cause, path: string | undefined])[] = [
  [{ kind: 'attempt', attempt, dueAt: now }, `${webhook}/deliveries/${ids.deliveryId}`],
  [{ kind: 'attempt', attempt: null, dueAt: null }, `${webhook}/deliveries/${ids.deliveryId}`],
  [{ kind: 'slow', attempt, dueAt: now }, webhook],
  [{ kind: 'suspended', reason: 'sem_sucesso' }, webhook],
  [{ kind: 'active again' }, `${webhook}?state=retida`],
  [{ kind: 'webhook deleted' }, `${webhook}/deliveries/${ids.deliveryId}`],
  [{ kind: 'suspended before' }, `${webhook}/deliveries/${ids.deliveryId}`],
  [{ kind: 'no webhook' }, webhook],
  [{ kind: 'shed' }, undefined],
  [{ kind: 'overdue', looked: false }, '/x/find?id=m-1'],
  [{ kind: 'overdue', looked: true }, '/x/find?id=m-1'],
  [{ kind: 'record gone' }, undefined],
  [{ kind: 'refused', messageId: 'm-1', reason: 'unknown_event', detail: '' }, '/x/dead-letters/m-1'],
  [{ kind: 'refused', messageId: 'm-1', reason: null, detail: '' }, '/x/dead-letters/m-1'],
  [{ kind: 'id used before', deliveryId: 'evt_first' }, '/x/find?id=evt_first'],
  [{ kind: 'our fault', seconds: 60 }, undefined],
  [{ kind: 'outcome not stored', attempt }, undefined],
  [{ kind: 'not found', since: now, queued: 0 }, undefined],
  [{ kind: 'not found', since: now, queued: 3 }, undefined],
];

describe('why an event has its fate', () => {
  it.each(causes)('is said in the language of the page, and leads to where it is mended: %j', async (cause, path) => {
    const [english, portuguese] = [causeText(contextIn('en'), cause), causeText(contextIn('pt'), cause)];
    expect(english).not.toBe(portuguese);
    const page = await show(listOf(cause));
    expect(page).toContain(`<summary>${english}</summary>`);
    const ways = [...page.matchAll(/href="([^"]*)"/g)].map(([, to = '']) => to);
    const isWay = (to: string) => /deliveries|dead-letters|find|webhooks\//.test(to);
    if (path === undefined) expect(ways.filter(isWay)).toEqual([]);
    else expect(ways.filter(isWay)).toContain(path);
  });
});

describe('the events of an account', () => {
  const cause: Cause = { kind: 'no webhook' };
  const none = { found: 0, events: [] };

  it.each([
    ['all', '', {}, undefined, ''],
    ['more than are shown', '', { looked: 50, isCutOff: true }, undefined, 'The latest 50; there are more.'],
    [
      'of one fate, among more',
      'fate=held',
      { looked: 200, isCutOff: true },
      'held',
      'Looked for among the latest 200.',
    ],
    ['of one fate, more than are shown', 'fate=held', { found: 60 }, 'held', '1 of 60 are shown.'],
    ['none of one fate', 'fate=held', { looked: 9, ...none }, 'held', 'None of the latest events (9) has this fate.'],
    ['none at all', 'fate=held', { looked: 0, ...none }, 'held', 'No event came for this account.'],
    ['of a fate that there is not', 'fate=lost', {}, undefined, ''],
    ['longer than the log is kept', '', { logSince: '2026-11-22T11:00:00.000Z' }, undefined, 'reaches back to'],
  ])('say what lies beyond them: %s', async (_, query, changes, fate, said) => {
    const asked: unknown[] = [];
    const page = await show(listOf(cause, changes), query, asked);
    expect(asked).toEqual(['acme', fate]);
    const beyond = page.split('</table>')[1] ?? page;
    if (said === '') expect(beyond).not.toContain('class="inside muted"');
    else expect(beyond).toContain(said);
  });

  it('may stand in the events queue, where none came', async () => {
    const none = { events: [], looked: 0, found: 0 };
    expect(await show(listOf(cause, { ...none, queued: 3 }))).toContain('events queue: about 3. It may');
    expect(await show(listOf(cause, { ...none, queued: 0 }))).not.toContain('about');
  });

  it('make a page under 100 kB, however many came and whatever was wrong with them', async () => {
    const refused: Cause = {
      kind: 'refused',
      messageId: randomUUID(),
      reason: 'unknown_event',
      detail: 'x'.repeat(300),
    };
    const one = {
      at,
      event: EVENT_NAMES[4],
      ...ids,
      messageId: randomUUID(),
      fate: 'refused' as const,
      cause: refused,
    };
    const content = await show(listOf(refused, { events: Array.from({ length: mostShown }, () => one) }));
    const document = documentOf({ title: 'x', content: new Html(content) }, contextIn('pt'));
    expect(Buffer.byteLength(document)).toBeLessThan(100_000);
  });
});
