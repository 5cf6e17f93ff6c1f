import { describe, expect, it } from 'vitest';
import type { Page } from '../../../../ops/console/page.ts';
import { findPage } from '../../../../ops/console/pages/find.ts';
import type { OperatorSource, Source } from '../../../../ops/console/source.ts';
import type { WebhookView } from '../../../../ops/console/views.ts';
import { CliError } from '../../../../ops/stage/operator.ts';
import { aContext, aSource, delivery, integratorOf } from './a-source.ts';

const find = async (source: Source, query: string) => {
  const values = new URLSearchParams(query);
  const page = (await findPage(aContext(source, '/find'), {}, values)) as Page;
  return { status: page.status, text: page.content.text };
};
const anOperator = (changes: Partial<OperatorSource>) =>
  aSource({ operator: { ...(aSource().operator as OperatorSource), ...changes } });
const cause = { kind: 'refused', messageId: 'm-1', reason: 'malformed', detail: 'no event' } as const;
const taken = { cause: { kind: 'attempt', attempt: null, dueAt: null } } as const;
const found = { cause, delivery: undefined, searchedSince: undefined };

describe('the search', () => {
  it.each([
    ['nothing with that id', 'id=%3C', 409],
    ['an account without its event', 'id=1&account=acme', 409],
    ['an account and an event that AWS does not answer for', 'id=1&account=acme&event=demanda.criada', 502],
  ])('keeps what was typed: %s', async (_, query, status) => {
    const source = anOperator({
      findEvent: ({ id }) =>
        Promise.reject(id === '<' ? new CliError('that is no id') : new Error('AWS does not answer')),
    });
    const { status: answered, text } = await find(source, query);
    expect(answered).toBe(status);
    expect(text).toContain('role="alert"');
    for (const value of new URLSearchParams(query).values())
      expect(text).toContain(`value="${value.replace('<', '&lt;')}"`);
  });

  it('leads to the delivery, its account and its webhook', async () => {
    const [account, event, id] = [delivery.account, 'demanda.criada' as const, delivery.id];
    const source = anOperator({
      findEvent: async () => ({ ...found, ...taken, verdict: 'delivered', delivery: { account, event, id } }),
    });
    const { text } = await find(source, `id=${id}`);
    for (const path of ['', `/webhooks/${event}`, `/webhooks/${event}/deliveries/${id}`])
      expect(text).toContain(`href="/x/accounts/${account}${path}"`);
    expect(text).not.toContain('/dead-letters/');
  });

  it('leads from a refused event to its dead letter', async () => {
    const source = anOperator({ findEvent: async () => ({ ...found, verdict: 'refused' }) });
    expect((await find(source, 'id=7188c438-242b-4126-be1f-200fdcb81d89')).text).toContain(
      'href="/x/dead-letters/m-1"',
    );
  });

  it.each([
    ['is known', 'mensagem.recebida', []],
    ['has a webhook', 'of.a.later.release', [{ event: 'of.a.later.release' } as WebhookView]],
  ])('tries for an integrator that named no event each one that %s', async (_, event, webhooks) => {
    const source = aSource({
      listWebhooks: async () => webhooks,
      findDelivery: async asked =>
        asked.event === event && asked.id === delivery.id ? { ...delivery, event } : undefined,
    });
    const integrator = integratorOf(source);
    const { text } = await find(integrator, `id=${delivery.id}`);
    expect(text).toContain(`href="/x/accounts/acme/webhooks/${event}/deliveries/${delivery.id}"`);
    expect(await find(integrator, 'id=evt_other')).toMatchObject({ status: 404 });
  });
});
