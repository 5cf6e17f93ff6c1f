import { describe, expect, it } from 'vitest';
import { failureCauses } from '../../../../lambdas/delivery/failure-causes.ts';
import type { Source } from '../../../../ops/console/api-source.ts';
import type { AttemptView, DeliveryView } from '../../../../ops/console/views.ts';
import { aDelivery, answer, attemptWith, aWebhook, fakeNetwork } from '../../delivery/builders.ts';
import { answerOf, documentAt as documentOf, textOf } from './a-page.ts';
import { aSource, aWebhookView, delivery } from './a-source.ts';

const now = Date.UTC(2026, 10, 26, 10, 50);
const at = (minutes: number) => new Date(now + minutes * 60_000).toISOString();
const path = `/webhooks/demanda.criada/deliveries/${delivery.id}`;
const body = `{"event":"demanda.criada","nome":"D'Ávila"}`;
const webhook = aWebhookView({ createdAt: at(-10_000) });
const attempt = (number: number, changes: Partial<AttemptView> = {}): AttemptView => ({
  ...{ number, startedAt: at(number * 10 - 100), durationMs: 31, result: 'http', detail: null },
  ...{ status: 503, answer: 'busy' },
  ...changes,
});

/** Returns a source of that delivery. */
const sourceOf = (changes: Partial<DeliveryView> = {}, more: Partial<Source> = {}) =>
  aSource({ findWebhook: async () => webhook, findDelivery: async () => ({ ...delivery, ...changes }), ...more });

const documentAt = (path: string, source: Source, more: Parameters<typeof documentOf>[2] = {}) =>
  documentOf(path, source, { now, ...more });

const cardOf = (text: string, heading: string) =>
  textOf(
    new RegExp(`<section class="card"[^>]*><header><h2>${heading}.*?</section>(?!<section)`, 's').exec(text)?.[0] ?? '',
  );

describe('the attempts of a delivery', () => {
  it('stand the newest first, with those that follow each other and ended alike folded', async () => {
    const made = [1, 2, 3, 4, 5].map(number => attempt(number, number === 2 ? { status: 500 } : {}));
    const text = cardOf(await documentAt(path, sourceOf({ made, attempts: 5 })), 'Attempts');
    expect(text).toMatch(
      /5 · refused, answered 503.*2 more with the same answer 4 · 31 ms.* 3 · 31 ms.* 2 · refused, answered 500.* 1 · refused/,
    );
    expect(text.match(/busy/g)).toHaveLength(3);
  });

  it.each([
    ['certificado_vencido', 'en', failureCauses.expired_certificate.en],
    ['certificado_vencido', 'pt', failureCauses.expired_certificate.pt],
    ['motivo_novo', 'en', ''],
  ] as const)('say of the cause %s in %s what the owner can do', async (detail, language, sentence) => {
    const made = [attempt(1, { result: 'tls', detail, status: null, answer: null })];
    const text = textOf(await documentAt(path, sourceOf({ made }), { language }));
    expect(text).toContain(detail);
    expect(text).toContain(sentence);
  });

  it('are not folded with those of another cause', async () => {
    const failed = { result: 'tls', status: null, answer: null };
    const made = ['autoassinado', 'versao_tls'].map((detail, at) => attempt(at + 1, { ...failed, detail }));
    expect(cardOf(await documentAt(path, sourceOf({ made })), 'Attempts')).not.toContain('more with the same');
  });

  it.each([
    ['', 503, 'The answer was empty.'],
    [null, 503, 'no answer was kept'],
  ])('say of the answer %j what it is', async (said, status, sentence) => {
    const made = [attempt(1, { answer: said, status })];
    expect(cardOf(await documentAt(path, sourceOf({ made })), 'Attempts')).toContain(sentence);
  });

  const next = { state: 'pendente', attempts: 2, nextAttemptAt: at(-80 + 150) };
  it.each<[string, Partial<DeliveryView>]>([
    ['It follows 3 h after attempt 2. The wait grows with each failed attempt', { made: [attempt(2)] }],
    ['Retry-After', { made: [attempt(2)] }],
    ['ended early because others waited', { made: [attempt(2, { result: 'lenta', status: null, answer: null })] }],
    ['a fault of our own', { made: [attempt(2, { result: 'interno', status: null, answer: null })] }],
    ['The first attempt is made at once.', { made: [], attempts: 0 }],
  ])('are followed by one whose time is explained: %s', async (sentence, changes) => {
    const text = cardOf(await documentAt(path, sourceOf({ ...next, ...changes })), 'Attempts');
    expect(text).toContain(sentence);
    if (changes.made?.[0]?.result !== 'http') expect(text).not.toContain('Retry-After');
  });

  it.each([null, at(-90)])('may be followed by one that the API does not explain: slow since %s', async slowSince => {
    const findWebhook = async () => ({ ...webhook, slowSince });
    const source = sourceOf({ ...next, made: [attempt(2)] }, { findWebhook });
    const text = cardOf(await documentAt(path, source), 'Attempts');
    expect(text).toMatch(/It follows 3 h after attempt 2\..* It may also have been sent again/);
    expect(text.includes('slow to answer')).toBe(slowSince !== null);
  });
});

describe('the body of a delivery', () => {
  it('is shown as it is signed and set in lines', async () => {
    const text = await documentAt(path, sourceOf({ body }));
    expect(cardOf(text, 'Body')).toContain(`As it is signed Copy ${body}`);
    expect(text).toContain('{\n  &quot;event&quot;: &quot;demanda.criada&quot;,\n');
  });

  it('is copied to the byte, though characters that nobody sees are shown as escapes', async () => {
    const odd = '{"nome":"a\u202eb\u200b\u0085"}';
    const text = await documentAt(path, sourceOf({ body: odd }));
    expect(text).toContain(`data-copy="${odd.replaceAll('"', '&quot;')}"`);
    expect(text).toContain('<pre>{&quot;nome&quot;:&quot;a\\u202eb\\u200b\\u0085&quot;}</pre>');
  });
});

describe('the request as it would be sent now', () => {
  const heading = 'The request as it would be sent now';

  it('has the headers of an attempt, and nothing that is secret', async () => {
    const { post, requests } = fakeNetwork(answer(200));
    await attemptWith({ post })(aWebhook(), aDelivery());
    const sent = requests[0]?.headers ?? {};
    const text = cardOf(await documentAt(path, sourceOf()), heading);
    expect(Object.keys(sent).length).toBeGreaterThan(4);
    for (const name of Object.keys(sent)) expect(text).toContain(` ${name.toLowerCase()}: `);
    expect(text).toContain('authorization: <credential> ');
    expect(text).toContain('webhook-signature: v1,<signature> ');
    expect(text).toContain(`webhook-id: ${delivery.id} `);
  });

  it('shows the URL, and a command to copy', async () => {
    const url = 'https://receiver.example.com/hooks?a=1';
    const source = sourceOf({ body }, { findWebhook: async () => ({ ...webhook, url, hasAuthorization: false }) });
    const text = cardOf(await documentAt(path, source), heading);
    expect(text).toContain("curl -g -X POST 'https://receiver.example.com/hooks?a=1'");
    expect(text).toContain(`--data-binary '{"event":"demanda.criada","nome":"D'\\''Ávila"}'`);
    expect(text).not.toContain('authorization');
  });

  it.each<[string, Partial<Source>]>([
    ['There is no webhook now', { findWebhook: async () => undefined }],
    ['until it is reactivated nothing is sent', { findWebhook: async () => ({ ...webhook, status: 'suspenso' }) }],
    ['Could not be read: throttled', { findWebhook: () => Promise.reject(new Error('throttled')) }],
  ])('says where there is none: %s', async (sentence, more) => {
    expect(cardOf(await documentAt(path, sourceOf({}, more)), heading)).toContain(sentence);
  });
});

describe('a delivery is sent again', () => {
  it.each<[string, Partial<DeliveryView>, Partial<Source>]>([
    ['A test is not sent again.', { id: 'teste_0123456789012345678901' }, {}],
    ['It was for an earlier registration', { createdAt: at(-10_001) }, {}],
    ['There is no webhook to send it to.', {}, { findWebhook: async () => undefined }],
    ['Reactivate its webhook', {}, { findWebhook: async () => ({ ...webhook, status: 'suspenso' }) }],
  ])('by a button only where it is not refused: %s', async (sentence, changes, more) => {
    const text = await documentAt(path, sourceOf(changes, more));
    expect(text).toContain(sentence);
    expect(text).not.toContain('/resend"');
  });

  it('and its page says so', async () => {
    const text = await documentAt(path, sourceOf({ createdAt: at(-10_000.005) })); // by another clock than its webhook
    expect(text).toContain(`action="/x${path}/resend"`);
    expect(cardOf(text, 'Verdict')).toContain('or ten days are over. The last attempt: refused, answered 503.');
    expect(await answerOf(`${path}/resend`, sourceOf(), { form: {} })).toMatchObject({ location: path });
  });
});
