import { expect, test } from 'vitest';
import { healthBadge, healthOf, healthSince } from '../../../../ops/console/health.ts';
import { ask } from './a-page.ts';
import { aContext, aSource, aWebhookView, delivery } from './a-source.ts';

const healthy = {
  status: 'ativo',
  reason: null,
  failingSince: null,
  slowSince: null,
  updatedAt: '2026-01-01T00:00:00.000Z',
};
const failing = { ...healthy, failingSince: '2026-01-02T00:00:00.000Z' };
const slow = { ...healthy, slowSince: '2026-01-03T00:00:00.000Z' };
const suspended = { ...failing, status: 'suspenso', reason: 'sem_sucesso' };

test.each([
  ['one that delivers', healthy, 'healthy', null, 'good'],
  ['one that fails', failing, 'failing', failing.failingSince, 'bad'],
  ['a slow one', slow, 'slow', slow.slowSince, 'wait'],
  ['a slow one that fails', { ...slow, ...failing, slowSince: slow.slowSince }, 'failing', failing.failingSince, 'bad'],
  ['a suspended one, whatever it failed before', suspended, 'suspended', healthy.updatedAt, 'held'],
])('%s is told by the worst that is so', (_, webhook, word, since, tone) => {
  expect(healthOf(webhook)).toMatchObject({ word, since, tone });
});

test.each([
  ['en' as const, 'Suspended', 'nothing but failures for five days'],
  ['pt' as const, 'Suspenso', 'só falhas por cinco dias'],
])('says in %s that it is suspended, and why', (language, word, reason) => {
  const context = aContext(aSource(), '/', language);
  expect(healthBadge(context, suspended).text).toContain(`>${word}</span> <small class="wire">suspenso`);
  expect(healthSince(context, suspended)?.text).toContain(reason);
  expect(healthSince(context, healthy)).toBeNull();
});

test('the first page says of each webhook what became of its newest delivery, and takes what cannot be read', async () => {
  const [seen, waits, none, lost] = [
    'demanda.criada',
    'demanda.cancelada',
    'proposta.recebida',
    'mensagem.recebida',
  ] as const;
  const source = aSource({
    readAccount: async () => ({
      webhooks: [seen, waits, none, lost].map(event => aWebhookView({ event })),
      withoutWebhook: [],
    }),
    listDeliveries: async ({ event, limit }) => {
      if (event === lost) throw new Error('throttled');
      const row = { ...delivery, event, ...(event === waits && { lastResult: null, lastStatus: null }) };
      return { deliveries: event === none ? [] : [row].slice(0, limit), next: null };
    },
  });
  const { text } = await ask(source, '/');
  expect(text).toMatch(/demanda\.criada Healthy .*? refused 503 .*? demanda\.cancelada/);
  expect(text).toMatch(/demanda\.cancelada Healthy .*? no attempt yet .*? proposta\.recebida/);
  expect(text).toMatch(/proposta\.recebida Healthy .*? none yet .*? mensagem\.recebida/);
  expect(text).toMatch(/mensagem\.recebida Healthy .*? could not be read/);
});
