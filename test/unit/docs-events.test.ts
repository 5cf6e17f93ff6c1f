import { describe, expect, it } from 'vitest';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { blocksOf, firstCells, inlineCode, readPage } from '../support/markdown-page.ts';

// The events that integrators read of, against the catalogue. Both languages name the same things in the same places (`docs-languages.test.ts`), so most of it is read from one of them.

const events = readPage('docs/en/events.md');

describe('the events', () => {
  it('are all there', () => {
    const names = events.headings.map(({ text }) => text).filter(text => text.includes('.'));
    expect(names).toEqual(EVENT_NAMES);
    expect(firstCells(events, 'Which fields in which event')).toEqual([EVENT_NAMES]);
  });

  it.each(EVENT_NAMES)('%s: its fields and the sample are what is sent', name => {
    const message = businessEvents.message(name, { id_conta: 'acme' }, businessEvents.exampleValues);
    const parsed = parseEventMessage(JSON.stringify(message), 'm1', 'https://demandas.example.com');
    if (parsed.outcome !== 'event') throw new Error(parsed.detail);
    expect(blocksOf(events, name)).toEqual([parsed.event.body]);
    const [table] = events.tables.filter(({ heading }) => heading === 'Which fields in which event');
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
  ])('%s says which fields may be absent: %s', (file, word) => {
    const told = (readPage(file).tables[0]?.rows ?? []).filter(([, type = '']) => type.includes(word));
    const optional = Object.entries(businessEvents.fields).filter(([, field]) => field.optional);
    expect(told.map(([field = '']) => inlineCode(field)[0]).sort()).toEqual(optional.map(([name]) => name).sort());
  });
});
