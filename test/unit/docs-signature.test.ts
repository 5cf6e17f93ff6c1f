import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signatureHeader } from '../../lambdas/delivery/attempt/signature.ts';
import { readPage } from '../support/markdown-page.ts';

// These tests recompute the documented example with the service's signer and with node:crypto.

describe.each(['docs/pt/recebimento.md', 'docs/en/receiving.md'])('the example of %s', file => {
  const page = readPage(file);
  const example = page.blocks.find(({ text }) => text.startsWith('segredo  '))?.text ?? '';
  const fields = Object.fromEntries(example.split('\n').map(line => line.split(/ {2,}/)));
  const { segredo = '', 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', body = '' } = fields;

  it('shows each step of the computation', () => {
    const key = Buffer.from(segredo.slice('whsec_'.length), 'base64');
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
    expect(fields['key (hex)']).toBe(key.toString('hex'));
    expect(fields.signed).toBe(`${id}.${timestamp}.${body}`);
    expect(fields['hmac (hex)']).toBe(mac.toString('hex'));
    expect(fields['webhook-signature']).toBe(`v1,${mac.toString('base64')}`);
    expect(signatureHeader({ id, timestamp: Number(timestamp), body }, [segredo])).toBe(fields['webhook-signature']);
  });

  it('describes the delivery that the page shows', () => {
    const delivery = page.blocks[0]?.text ?? '';
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      expect(delivery).toContain(`\n${name}: ${fields[name]}\n`);
    expect(delivery.split('\n\n')[1]).toBe(body);
  });
});
