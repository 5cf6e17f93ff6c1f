import { describe, expect, it } from 'vitest';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { rejectionNotice } from '../../lambdas/delivery/intake/rejection-notice.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { blocksOf, firstCells, inlineCode, readPage } from '../support/markdown-page.ts';

// These tests compare the pages for integrators and publishers with the catalogue of events. Most tests read only English pages, because
// `docs-languages.test.ts` compares both languages.

const parse = (message: object) =>
  parseEventMessage(JSON.stringify(message), 'message-1', 'https://demandas.example.com');
const events = readPage('docs/en/events.md');

describe('the page about events', () => {
  it('lists all events', () => {
    const names = events.headings.map(({ text }) => text).filter(text => text.includes('.'));
    expect(names).toEqual(EVENT_NAMES);
    expect(firstCells(events, 'Fields of each event')).toEqual([EVENT_NAMES]);
  });

  it.each(EVENT_NAMES)('shows the fields, body and link format of %s', name => {
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

  it('describes all fields', () => {
    const describedFields = firstCells(events, 'Fields').flat();
    const deliveredFields = EVENT_NAMES.flatMap(name => Object.keys(businessEvents.bodySchema(name).shape));
    expect(describedFields.toSorted()).toEqual([...new Set(deliveredFields)].sort());
  });

  it.each([
    ['docs/en/events.md', 'optional'],
    ['docs/pt/eventos.md', 'opcional'],
  ])('marks in %s the fields that may be absent as "%s"', (file, word) => {
    const rows = (readPage(file).tables[0]?.rows ?? []).filter(([, type = '']) => type.includes(word));
    const optional = Object.entries(businessEvents.fields).filter(([, field]) => field.optional);
    expect(rows.map(([field = '']) => inlineCode(field)[0]).sort()).toEqual(optional.map(([name]) => name).sort());
  });
});

describe('the page for publishers', () => {
  const page = readPage('docs/publishing.md');
  const text = page.lines.join('\n');
  const examples = page.blocks.filter(({ language }) => language === 'json').map(block => JSON.parse(block.text));

  it('lists the fields of a message and the events', () => {
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
    const isListed = { yes: () => true, '': () => true, 'for all': (event: string) => !isNamed(event) }[
      /^(?:yes$|for all|$)/.exec(which)?.[0] ?? 'some'
    ];
    const expected = EVENT_NAMES.filter(event => field in businessEvents.messageSchemas[event].shape);
    expect(EVENT_NAMES.filter(isListed ?? isNamed)).toEqual(expected);
  });

  it('shows commands that send valid events', () => {
    const bodies = [...text.matchAll(/--message-body '(\{"id_conta".*\})'/g)].map(([, body = '']) => body);
    expect(bodies.length).toBeGreaterThan(0);
    for (const body of bodies) expect(parse(JSON.parse(body)).outcome).toBe('event');
  });

  it('shows a notice in the format that Emissor sends', () => {
    const [one] = examples;
    expect(rejectionNotice.parse(one)).toEqual(one);
    const result = parse({ id_conta: 'acme', event: 'proposta.recebida', id_demanda: 10, id: 'proposal-20' });
    expect(result).toMatchObject({ outcome: 'rejected', reason: one.reason, detail: one.detail, publisherId: one.id });
  });

  it('lists the fields of a notice', () => {
    const [, table] = page.tables;
    expect(table?.rows.map(([name]) => name)).toEqual(Object.keys(rejectionNotice.shape).map(name => `\`${name}\``));
  });

  it('shows values that a stage accepts', () => {
    const values = [...text.matchAll(/`(publishers|noticeAccounts): \['([^']+)'\]`/g)];
    expect(values).toHaveLength(4);
    for (const [, key = '', value] of values)
      expect(stageConfiguration('dev', { [key]: [value] })).toMatchObject({ [key]: [value] });
  });
});
