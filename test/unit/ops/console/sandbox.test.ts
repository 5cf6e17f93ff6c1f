import { beforeEach, describe, expect, it } from 'vitest';
import { signatureHeader } from '../../../../lambdas/delivery/worker/signature.ts';
import { judgeSignature, type ReceivedView, type Verdict } from '../../../../ops/console/operator/sandbox.ts';
import type { Source } from '../../../../ops/console/source.ts';
import { aDelivery, aWebhook, noon } from '../../delivery/builders.ts';
import { ask } from './a-page.ts';
import { aSource, done, operator } from './a-source.ts';

beforeEach(() => void done.splice(0));

const [current, former, strange] = ['A', 'B', 'C'].map(
  letter => `whsec_${Buffer.alloc(32, letter).toString('base64')}`,
);
const delivery = aDelivery({ id: 'evt_0123456789abcdefghijklmnopq' });
const second = noon / 1_000;
const secret = (sealed = '', createdAt = noon) => ({ sealed, createdAt });
const webhook = aWebhook({ secrets: [secret(current), secret(former)] });

/** A request of the receiver, signed with a secret. */
const received = (signedWith: string | undefined, body = '{"event":"demanda.criada"}') => {
  const content = { id: delivery.id, timestamp: second, body };
  const headers: Record<string, string> = { 'webhook-id': delivery.id, 'webhook-timestamp': `${second}` };
  if (signedWith !== undefined) headers['webhook-signature'] = signatureHeader(content, [signedWith]);
  return { at: '2026-11-20T12:00:01.000Z', method: 'POST', path: '/hooks', headers, body, status: 200 };
};

const changed = { ...received(current), body: '{"event":"demanda.paga"}' };
const long = received(strange, 'x'.repeat(16 * 1_024));

describe('a signature', () => {
  it.each<
    [string, Verdict, Parameters<typeof judgeSignature>[0], typeof delivery | undefined, typeof webhook | undefined]
  >([
    ['of the current secret', 'verified', received(current), delivery, webhook],
    ['of a former secret that still signs', 'verified', received(former), delivery, webhook],
    ['of another secret', 'wrong', received(strange), delivery, webhook],
    ['of another body', 'wrong', changed, delivery, webhook],
    ['of a body that was kept in part', 'cut', long, delivery, webhook],
    [
      'of a secret that was rotated away',
      'rotated',
      received(strange),
      delivery,
      aWebhook({ secrets: [secret(current, noon + 1_000)] }),
    ],
    ['of a webhook that was deleted', 'deleted', received(current), delivery, undefined],
    [
      'of a webhook that was registered anew',
      'replaced',
      received(strange),
      delivery,
      { ...webhook, webhookId: 'anew' },
    ],
    ['of a delivery that nobody knows', 'unknown', received(current), undefined, undefined],
    ['that is not there', 'unsigned', received(undefined), delivery, webhook],
  ])('%s is %s', async (_case, verdict, request, found, registered) => {
    expect(await judgeSignature(request, found, registered, async sealed => sealed)).toBe(verdict);
  });
});

describe('the sandbox', () => {
  const view = (at: number, changes: Partial<ReceivedView> = {}): ReceivedView => ({
    ...received(current),
    at: new Date(noon + at * 1_000).toISOString(),
    id: `evt_${String(at).padStart(27, '0')}`,
    account: 'acme',
    event: 'demanda.criada',
    verdict: 'verified',
    ...changes,
  });
  const sourceOf = (all: readonly ReceivedView[], count = all.length): Source => {
    const { sandbox } = operator;
    return aSource({
      operator: {
        ...operator,
        ...(sandbox && { sandbox: { ...sandbox, list: async () => ({ count, received: [...all] }) } }),
      },
    });
  };

  it('lists what came, and shows one in full: its account, its headers, how it is signed', async () => {
    const [newest, older] = [view(2), view(1, { account: 'loja', event: 'demanda.cancelada' })];
    const source = sourceOf([newest, older], 213);
    const first = await ask(source, '/sandbox');
    expect(first.text).toContain('the latest 2 of 213');
    expect(first.document).toContain(`/accounts/acme/webhooks/demanda.criada/deliveries/${newest.id}`);
    expect(first.document).not.toContain(`/accounts/loja/webhooks/demanda.cancelada/deliveries/${older.id}`);
    const path = /href="\/x(\/sandbox\?one=[^"]+)"(?! aria)/.exec(first.document)?.[1] ?? '';
    const { document, text } = await ask(source, path);
    expect(document).toContain(`/accounts/loja/webhooks/demanda.cancelada/deliveries/${older.id}`);
    expect(text).toMatch(/webhook-signature: v1,/);
    expect(text).toMatch(/HMAC-SHA-256 of webhook-id\.webhook-timestamp\.body/);
    expect(document).toContain('href="/x/docs/receiving"');
    expect((await ask(source, '/docs/receiving')).text).toContain('Verify the signature');
    expect((await ask(source, '/docs/receiving', { language: 'pt' })).text).toContain('Verificar a assinatura');
  });

  it.each<[Verdict, string, RegExp]>([
    ['verified', 'good', /✓ Verified It was made with a secret/],
    ['wrong', 'bad', /✗ Wrong No secret of this webhook/],
    ['unsigned', '', /Not signed .* it is no delivery/],
    ['unknown', 'wait', /past its time/],
    ['deleted', 'wait', /webhook was deleted, and the secret/],
    ['replaced', 'wait', /registered anew/],
    ['rotated', 'wait', /rotated away/],
    ['cut', 'wait', /first 16 KiB/],
  ])('says what %s means, in both languages', async (verdict, tone, said) => {
    const isKnown = !['unsigned', 'unknown'].includes(verdict);
    const source = sourceOf([view(1, { verdict, ...(!isKnown && { account: null, event: null }) })]);
    const { document, text } = await ask(source, '/sandbox');
    expect(text).toMatch(said);
    expect(document).toContain(`<span class="badge ${tone}">`);
    expect((await ask(source, '/sandbox', { language: 'pt' })).text).not.toMatch(said);
  });

  it('leads to the first steps while nothing came', async () => {
    expect((await ask(sourceOf([]), '/sandbox')).document).toContain('href="/x/first-steps"');
  });
});
