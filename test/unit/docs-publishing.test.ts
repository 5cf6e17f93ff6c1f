import { describe, expect, it } from 'vitest';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { refusalNotice, suppressedRefusals } from '../../lambdas/delivery/refusals/refusal-notice.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { inlineCode, readPage } from '../support/markdown-page.ts';

const page = readPage('docs/publishing.md');
const text = page.lines.join('\n');
const parse = (message: object) => parseEventMessage(JSON.stringify(message), 'message-1', 'https://demandas.com.br');
const examples = page.blocks.filter(({ language }) => language === 'json').map(block => JSON.parse(block.text));

describe('the page for publishers', () => {
  it('lists the fields of a message, and the events', () => {
    const rows = page.tables[0]?.rows ?? [];
    const fields = rows.map(([field = '']) => inlineCode(field)[0]);
    expect(fields).toEqual(['id_conta', 'event', ...Object.keys(businessEvents.fields), 'id']);
    expect(inlineCode(rows[1]?.[2] ?? '')).toEqual([...EVENT_NAMES]);
  });

  it.each(Object.entries(businessEvents.fields))('says which events have the field %s', (field, { optional }) => {
    const [, required = ''] = page.tables[0]?.rows.find(([name]) => name === `\`${field}\``) ?? [];
    const [, no, which = ''] = /^(no)?(?:, )?(.*)$/.exec(required) ?? [];
    expect(no !== undefined).toBe(optional === true);
    const isNamed = (event: string) => inlineCode(which).some(name => event.startsWith(name.replace('…', '')));
    const isTold = { yes: () => true, '': () => true, 'for all': (event: string) => !isNamed(event) }[
      /^(?:yes$|for all|$)/.exec(which)?.[0] ?? 'some'
    ];
    const having = EVENT_NAMES.filter(event => field in businessEvents.messageSchemas[event].shape);
    expect(EVENT_NAMES.filter(isTold ?? isNamed)).toEqual(having);
  });

  it('sends messages that are events', () => {
    const sent = [...text.matchAll(/--message-body '(\{"id_conta".*\})'/g)].map(([, body = '']) => JSON.parse(body));
    expect(sent.length).toBeGreaterThan(0);
    for (const message of sent) expect(parse(message).outcome).toBe('event');
  });

  it('shows notices as they are sent', () => {
    const [one, count] = examples;
    expect(refusalNotice.parse(one)).toEqual(one);
    expect(suppressedRefusals.parse(count)).toEqual(count);
    const refused = parse({ id_conta: 'acme', event: 'proposta.recebida', id_demanda: 10, id: 'proposal-20' });
    expect(refused).toMatchObject({ outcome: 'rejected', reason: one.reason, detail: one.detail, publisherId: one.id });
  });

  it('lists the members of a notice', () => {
    const [, members] = page.tables;
    expect(members?.rows.map(([member]) => member)).toEqual(
      Object.keys(refusalNotice.shape).map(name => `\`${name}\``),
    );
  });

  it('names stage values as a stage takes them', () => {
    const values = [
      ...text.matchAll(/`(publisherRoles|publisherTopics|publisherRules|noticeAccounts): \['([^']+)'\]`/g),
    ];
    const named = Object.fromEntries(values.map(([, key = '', value = '']) => [key, [value]]));
    expect(Object.keys(named)).toHaveLength(4);
    expect(stageConfiguration('dev', named)).toMatchObject(named);
  });
});
