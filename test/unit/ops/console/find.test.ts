import { describe, expect, it } from 'vitest';
import type { Source } from '../../../../ops/console/api-source.ts';
import type { Page } from '../../../../ops/console/page.ts';
import { findPage } from '../../../../ops/console/pages/find.ts';
import { Refusal } from '../../../../ops/console/views.ts';
import { aContext, aSource, aWebhookView, delivery } from './a-source.ts';

const find = async (source: Source, query: string) => {
  const values = new URLSearchParams(query);
  const page = (await findPage(aContext(source, '/find'), {}, values)) as Page;
  return { status: page.status, text: page.content.text };
};

describe('the search', () => {
  it.each([
    ['nothing with that id', 'id=%3C', undefined, 404],
    ['an event that the API refuses', 'id=1&event=%3C', new Refusal('There is no such event.'), 409],
    ['an API that does not answer', 'id=1&event=demanda.criada', new Error('The API does not answer.'), 502],
  ])('keeps what was typed: %s', async (_, query, failure, status) => {
    const source = aSource({ findDelivery: async () => (failure ? Promise.reject(failure) : undefined) });
    const { status: answered, text } = await find(source, query);
    expect(answered).toBe(status);
    expect(text).toContain('role="alert"');
    for (const value of new URLSearchParams(query).values())
      expect(text).toContain(`value="${value.replace('<', '&lt;')}"`);
  });

  it.each([
    ['is known', 'mensagem.recebida', []],
    ['has a webhook', 'of.a.later.release', [aWebhookView({ event: 'of.a.later.release' })]],
  ])('tries each event that %s if none was named', async (_, event, webhooks) => {
    const source = aSource({
      readAccount: async () => ({ webhooks, withoutWebhook: [] }),
      findDelivery: async asked =>
        asked.event === event && asked.id === delivery.id ? { ...delivery, event } : undefined,
    });
    const { text } = await find(source, `id=${delivery.id}`);
    expect(text).toContain(`href="/x/webhooks/${event}/deliveries/${delivery.id}"`);
    expect(await find(source, 'id=evt_other')).toMatchObject({ status: 404 });
  });
});
