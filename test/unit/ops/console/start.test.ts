import { describe, expect, it } from 'vitest';
import { startView } from '../../../../ops/console/operator/start.ts';
import { answerPage } from '../../../../ops/console/pages/pages.ts';
import type { OperatorSource } from '../../../../ops/console/source.ts';
import type { Problem } from '../../../../ops/status/problem.ts';
import type { Status } from '../../../../ops/status/status.command.ts';
import { aStatus, noDeliveries } from '../a-status.ts';
import { aContext, aSource } from './a-source.ts';

const now = Date.parse('2026-11-22T12:00:00.000Z');
const owner = { account: 'acme', event: 'demanda.criada' } as const;
const since = '2026-11-20T12:00:00.000Z';

const traffic = { hours: [since], delivered: [7], failed: [2], held: [1], isCutOff: false };
type Read = Parameters<typeof startView>;

const show = async (
  changes: Partial<Status> = {},
  counted: Read[1] = traffic,
  language: 'en' | 'pt' = 'en',
  readAt = now,
) => {
  const view = startView(aStatus(changes), counted, new Date(readAt).toISOString());
  const base = aSource();
  const operator = { ...(base.operator as OperatorSource), readStart: async () => view };
  const answer = await answerPage(aContext({ ...base, operator }, '/', language, now), null);
  if ('location' in answer) throw new Error('A page answers.');
  return answer.content.text;
};
/** Returns the card with an id. */
const cardOf = (page: string, id: string) => page.split(`id="${id}"`)[1]?.split('</section>')[0] ?? '';

describe('Start', () => {
  it('says that nothing needs anybody where all was read', async () => {
    const page = await show();
    expect(page).toContain('Nothing needs you.');
    expect(page).toContain('No webhook fails or is suspended');
    expect(page).toContain('No delivery has failed or is held.');
    expect(page).toContain('No alarm rings.');
    expect(page).not.toContain('Could not be read');
  });

  // Bug: it said that no webhook fails and no alarm rings of what it had not been able to read.
  it.each([
    ['queues', 'queues', '–</p>'],
    ['webhooks', 'troubled', 'No webhook fails'],
    ['alarms', 'alarms', 'No alarm rings'],
    ['keys', 'keys', 'There is no key'],
    ['users', 'users', 'No user is being deleted'],
    ['deliveries', 'undelivered', 'No delivery has failed'],
    ['deliveries', 'troubled', 'no delivery waits'],
    ['tables', 'stage', '0 / 0'],
    ['throttles', 'stage', undefined],
    ['kmsKey', 'stage', 'Enabled'],
    ['certificates', 'stage', undefined],
    ['recipients', 'stage', '1 / 1'],
    ['rolledBack', 'stage', undefined],
  ] as const)('says of %s alone that it could not be read, in the card %s', async (part, card, empty) => {
    const page = await show({ [part]: { unread: 'denied' } });
    expect(cardOf(page, card)).toContain('Could not be read: denied');
    if (empty !== undefined) {
      expect(cardOf(await show(), card)).toContain(empty);
      expect(cardOf(page, card)).not.toContain(empty);
    }
    expect(page).not.toContain('Nothing needs you.');
    expect(cardOf(page, 'needs')).toContain('Parts that could not be read: 1.');
  });

  it('says so of the metrics', async () => {
    const page = await show({}, { unread: 'denied' });
    expect(cardOf(page, 'traffic')).toContain('Could not be read: denied');
    expect(cardOf(page, 'traffic')).not.toContain('class="figure"');
    expect(page).not.toContain('Nothing needs you.');
  });

  it('says that a local run has no alarms', async () => {
    const page = await show({ stacks: null, stage: null, alarms: { unread: 'the local run has no alarms' } });
    expect(cardOf(page, 'alarms')).toContain('A local run has no alarms.');
    expect(page).toContain('Nothing needs you.');
    expect(page).not.toContain('id="stage"');
  });

  it('says where it looked at a part alone', async () => {
    const page = await show({
      webhooks: { read: 700, isCutOff: true, suspended: [], failing: [] },
      alarms: { total: 100, isCutOff: true, ringing: [] },
    });
    expect(cardOf(page, 'troubled')).toContain('None of the first 700 webhooks');
    expect(cardOf(page, 'alarms')).toContain('None of the first 100 alarms');
  });

  it.each<[string, Partial<Status>]>([
    ['webhooks', { webhooks: { read: 700, isCutOff: true, suspended: [], failing: [] } }],
    ['alarms', { alarms: { total: 100, isCutOff: true, ringing: [] } }],
    ['users', { users: { read: 900, isCutOff: true, beingDeleted: [] } }],
    ['deliveries', { deliveries: { ...noDeliveries, isCutOff: true } }],
    ['what waits', { deliveries: { ...noDeliveries, late: { groups: [], isCutOff: true } } }],
  ])('does not say that nothing needs anybody where there are more %s than were read', async (_, changes) => {
    const said = cardOf(await show(changes), 'needs');
    expect(said).toContain('Nothing that was read needs you.');
    expect(said).toContain('looked at: 1.');
    expect(said).not.toContain('Nothing needs you.');
  });

  it('says of rows that were found that they are of a part alone', async () => {
    const user = { userId: 'u', account: 'acme', since };
    const page = await show({
      alarms: { total: 100, isCutOff: true, ringing: [{ name: 'a', since, description: '' }] },
      users: { read: 900, isCutOff: true, beingDeleted: Array.from({ length: 60 }, () => user) },
      deliveries: { ...noDeliveries, late: { groups: [], isCutOff: true } },
    });
    expect(cardOf(page, 'alarms')).toContain('Of the first 100 alarms; there are more.');
    expect(cardOf(page, 'users')).toMatch(/50 of 60.*Of the first 900 users; there are more\./s);
    expect(cardOf(page, 'troubled')).toContain('Slow ones were looked for among the first that wait');
    const whole = await show({ users: { read: 1, isCutOff: false, beingDeleted: [user] } });
    expect(whole).not.toMatch(/there are more|there may be more/);
  });

  it('shows 50 of the webhooks that need a look, failing and slow ones before suspended, the longest first', async () => {
    const failing = Array.from({ length: 60 }, (_, at) => ({ ...owner, account: `acme-${at}`, since }));
    const slow = [{ ...owner, account: 'sluggish', since }];
    const deliveries = { ...noDeliveries, slow };
    const page = await show({ webhooks: { read: 60, isCutOff: false, suspended: [], failing } });
    expect(cardOf(page, 'troubled')).toContain('50 of 60');
    expect(cardOf(page, 'troubled').match(/>Failing</g)).toHaveLength(50);
    expect(cardOf(await show({ deliveries }), 'troubled')).toMatch(/sluggish.*>Slow</s);
  });

  it('says of what is kept for a while how old it is', async () => {
    expect(cardOf(await show(), 'undelivered')).not.toContain('>read ');
    const page = await show({}, traffic, 'en', now - 4 * 60_000);
    for (const card of ['undelivered', 'keys', 'users', 'stage']) expect(cardOf(page, card)).toMatch(/>read .*4 min/);
  });

  it('shows what became of deliveries of the whole stage, as figures and as a table', async () => {
    const card = cardOf(await show(), 'traffic');
    expect(card).toContain('whole stage');
    expect([...card.matchAll(/class="figure[^"]*">([^<]*)</g)].map(([, text]) => text)).toEqual(['7', '2', '1']);
    expect(card).toMatch(/<td[^>]*><span>7<\/span><\/td><td[^>]*><span>2/);
    const atLeast = cardOf(await show({}, { ...traffic, isCutOff: true }), 'traffic');
    expect(atLeast).toContain('at least 7');
  });
});

const sentence = 'what the terminal says: npm run ops';
const group = { ...owner, cause: 'overdue', count: 2, isCutOff: false, since, first: 'evt_1' } as const;
const first = { ...owner, since };
const ended = { count: 3, isCutOff: false, most: { ...owner, count: 3 } };
const webhookPath = '/accounts/acme/webhooks/demanda.criada';

describe('what needs somebody', () => {
  it.each<[string, Problem]>([
    ['/#stage', { kind: 'versions in use again', functions: ['Token (5 to 4)'], sentence }],
    ['/#stage', { kind: 'shifting', functions: ['Token (5 to 4)'], sentence }],
    ['/#stage', { kind: 'rolled back', functions: ['Token (5 to 4)'], sentence }],
    ['/#stage', { kind: 'not deployed', stacks: ['Data'], sentence }],
    ['/#stage', { kind: 'deployed in part', stacks: ['Data'], sentence }],
    ['/#stage', { kind: 'stack', name: 'Data', state: 'UPDATE_FAILED', isUnwanted: false, sentence }],
    ['/#stage', { kind: 'stack', name: 'Smoke', state: 'CREATE_COMPLETE', isUnwanted: true, sentence }],
    ['/#stage', { kind: 'different versions', found: [{ value: '1', stacks: ['Data'] }], sentence }],
    ['/#stage', { kind: 'unprotected', stacks: 1, tables: 2, sentence }],
    ['/#alarms', { kind: 'alarms', count: 2, since, sentence }],
    ['/#stage', { kind: 'KMS key', state: 'Disabled', deletedAt: null, sentence }],
    ['/#stage', { kind: 'throttled', place: 'Users', calls: 'reads', count: 3, sentence }],
    ['/#stage', { kind: 'certificate', host: 'a.example.com', state: 'ISSUED', endsAt: since, sentence }],
    ['/#stage', { kind: 'unreached', mail: 'page', addresses: ['ops@acme.com'], sentence }],
    ['/#stage', { kind: 'unreached', mail: 'ticket', addresses: ['ops@acme.com'], sentence }],
    [`${webhookPath}/deliveries/evt_1`, { kind: 'late', group, sentence }],
    [webhookPath, { kind: 'late', group: { ...group, cause: 'replay', count: null }, sentence }],
    ['/#troubled', { kind: 'more late', count: 2, sentence }],
    ['/#queues', { kind: 'backlog', queue: 'retry', waiting: 2, inFlight: 0, oldestSeconds: 400, sentence }],
    ['/#troubled', { kind: 'backlog', queue: 'retry', waiting: 2, inFlight: 1, oldestSeconds: 400, sentence }],
    [`${webhookPath}?state=falhou`, { kind: 'failed', ...ended, sentence }],
    [`${webhookPath}?state=retida`, { kind: 'held', ...ended, sentence }],
    ['/#undelivered', { kind: 'failed', ...ended, count: 4, sentence }],
    ['/dead-letters', { kind: 'dead letters', count: 1, sentence }],
    [webhookPath, { kind: 'failing', count: 1, first, sentence }],
    ['/#troubled', { kind: 'suspended', count: 2, first, sentence }],
    ['/#users', { kind: 'users being deleted', count: 1, since, sentence }],
    ['/#keys', { kind: 'no key', key: 'mac', since: null, sentence }],
    ['/#keys', { kind: 'late key', key: 'mac', since, sentence }],
  ])('leads to %s', async (path, problem) => {
    const [english, portuguese] = [
      await show({ problems: [problem] }),
      await show({ problems: [problem] }, traffic, 'pt'),
    ];
    for (const page of [english, portuguese]) {
      const needs = cardOf(page, 'needs');
      expect(needs).toContain(`href="/x${path}"`);
      expect(needs).not.toContain(sentence);
    }
    const said = (page: string) => /<a href[^>]*>([^<]*)</.exec(cardOf(page, 'needs'))?.[1];
    expect(said(english)).not.toBe(said(portuguese));
  });

  it('comes the worst first, and of those the longest', async () => {
    const later = { ...group, first: 'evt_later', since: '2026-11-21T00:00:00.000Z' };
    const problems: Problem[] = [
      { kind: 'rolled back', functions: [], sentence },
      { kind: 'failing', count: 1, first, sentence },
      { kind: 'late', group: later, sentence },
      { kind: 'late', group, sentence },
      { kind: 'no key', key: 'mac', since: null, sentence },
    ];
    const needs = cardOf(await show({ problems }), 'needs');
    expect([...needs.matchAll(/href="\/x([^"]*)"/g)].map(([, path]) => path)).toEqual([
      '/#keys',
      `${webhookPath}/deliveries/evt_1`,
      `${webhookPath}/deliveries/evt_later`,
      webhookPath,
      '/#stage',
    ]);
  });
});
