import { describe, expect, it } from 'vitest';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { rejectionNotice } from '../../lambdas/delivery/intake/rejection-notice.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { blocksOf, firstCells, inlineCode, readPage } from '../support/markdown-page.ts';

// The events that integrators and publishers read of, against the catalogue. Integrators' pages name the same things in the same places
// in both languages (`docs-languages.test.ts`), so most of it is read from one of them.

const parse = (message: object) =>
  parseEventMessage(JSON.stringify(message), 'message-1', 'https://demandas.example.com');
const events = readPage('docs/en/events.md');

describe('the events', () => {
  it('are all there', () => {
    const names = events.headings.map(({ text }) => text).filter(text => text.includes('.'));
    expect(names).toEqual(EVENT_NAMES);
    expect(firstCells(events, 'Fields of each event')).toEqual([EVENT_NAMES]);
  });

  it.each(EVENT_NAMES)('%s: its fields and the sample are what is sent', name => {
    const message = businessEvents.message(name, { id_conta: 'acme' }, businessEvents.exampleValues);
    const parsed = parse(message);
    if (parsed.outcome !== 'event') throw new Error(parsed.detail);
    expect(blocksOf(events, name)).toEqual([parsed.event.body]);
    const [table] = events.tables.filter(({ heading }) => heading === 'Fields of each event');
    const row = table?.rows.find(([cell = '']) => cell.includes(`\`${name}\``));
    const body = JSON.parse(parsed.event.body);
    expect(inlineCode(row?.[1] ?? '')).toEqual(Object.keys(body));

    const kind = { 10: 'demand', 20: 'proposal' }[Number(body.link?.split('/').at(-1))];
    expect(row?.[2]).toBe(kind ?? 'none');
    const formats = events.tables.find(({ heading }) => heading === 'Link formats')?.rows ?? [];
    const format = formats.find(([cell]) => cell === kind)?.[1];
    const filled = format?.replaceAll('`', '').replaceAll(/<(\w+)>/g, (_, field) => `${body[field]}`);
    expect(filled?.replace('{demands_url}', 'https://demandas.example.com')).toBe(body.link);
  });

  it('have all their fields described', () => {
    const described = firstCells(events, 'Fields').flat();
    const delivered = EVENT_NAMES.flatMap(name => Object.keys(businessEvents.bodySchema(name).shape));
    expect(described.toSorted()).toEqual([...new Set(delivered)].sort());
  });

  it.each([
    ['docs/en/events.md', 'optional'],
    ['docs/pt/eventos.md', 'opcional'],
  ])('%s lists the fields that may be absent: %s', (file, word) => {
    const reported = (readPage(file).tables[0]?.rows ?? []).filter(([, type = '']) => type.includes(word));
    const optional = Object.entries(businessEvents.fields).filter(([, field]) => field.optional);
    expect(reported.map(([field = '']) => inlineCode(field)[0]).sort()).toEqual(optional.map(([name]) => name).sort());
  });
});

describe('the page for publishers', () => {
  const page = readPage('docs/publishing.md');
  const text = page.lines.join('\n');
  const examples = page.blocks.filter(({ language }) => language === 'json').map(block => JSON.parse(block.text));

  it('lists the fields of a message, and the events', () => {
    const rows = page.tables[0]?.rows ?? [];
    const fields = rows.map(([field = '']) => inlineCode(field)[0]);
    expect(fields).toEqual(['id_conta', 'event', ...Object.keys(businessEvents.fields), 'id']);
    expect(inlineCode(rows[1]?.[2] ?? '')).toEqual([...EVENT_NAMES]);
  });

  it.each(Object.entries(businessEvents.fields))('lists the events that have the field %s', (field, { optional }) => {
    const [, required = ''] = page.tables[0]?.rows.find(([name]) => name === `\`${field}\``) ?? [];
    const [, no, which = ''] = /^(no)?(?:, )?(.*)$/.exec(required) ?? [];
    expect(no !== undefined).toBe(optional === true);
    const isNamed = (event: string) => inlineCode(which).some(name => event.startsWith(name.replace('…', '')));
    const isReported = { yes: () => true, '': () => true, 'for all': (event: string) => !isNamed(event) }[
      /^(?:yes$|for all|$)/.exec(which)?.[0] ?? 'some'
    ];
    const having = EVENT_NAMES.filter(event => field in businessEvents.messageSchemas[event].shape);
    expect(EVENT_NAMES.filter(isReported ?? isNamed)).toEqual(having);
  });

  it('sends messages that are events', () => {
    const sent = [...text.matchAll(/--message-body '(\{"id_conta".*\})'/g)].map(([, body = '']) => JSON.parse(body));
    expect(sent.length).toBeGreaterThan(0);
    for (const message of sent) expect(parse(message).outcome).toBe('event');
  });

  it('shows notices as they are sent', () => {
    const [one] = examples;
    expect(rejectionNotice.parse(one)).toEqual(one);
    const refused = parse({ id_conta: 'acme', event: 'proposta.recebida', id_demanda: 10, id: 'proposal-20' });
    expect(refused).toMatchObject({ outcome: 'rejected', reason: one.reason, detail: one.detail, publisherId: one.id });
  });

  it('lists the members of a notice', () => {
    const [, members] = page.tables;
    expect(members?.rows.map(([name]) => name)).toEqual(Object.keys(rejectionNotice.shape).map(name => `\`${name}\``));
  });

  it('names stage values that a stage accepts', () => {
    const values = [...text.matchAll(/`(publishers|noticeAccounts): \['([^']+)'\]`/g)];
    expect(values).toHaveLength(4);
    for (const [, key = '', value] of values)
      expect(stageConfiguration('dev', { [key]: [value] })).toMatchObject({ [key]: [value] });
  });
});
