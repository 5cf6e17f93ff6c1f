import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signatureHeader } from '../../lambdas/delivery/attempt/signature.ts';
import { readPage } from '../support/markdown-page.ts';

// The example with numbers, computed again: by the service's own signer, and by node:crypto alone.

describe.each(['docs/pt/recebimento.md', 'docs/en/receiving.md'])('the example of %s', file => {
  const shown = readPage(file);
  const example = shown.blocks.find(({ text }) => text.startsWith('segredo  '))?.text ?? '';
  const given = Object.fromEntries(example.split('\n').map(line => line.split(/ {2,}/)));
  const { segredo = '', 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', body = '' } = given;

  it('has each step of the computation', () => {
    const key = Buffer.from(segredo.slice('whsec_'.length), 'base64');
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
    expect(given['key (hex)']).toBe(key.toString('hex'));
    expect(given.signed).toBe(`${id}.${timestamp}.${body}`);
    expect(given['hmac (hex)']).toBe(mac.toString('hex'));
    expect(given['webhook-signature']).toBe(`v1,${mac.toString('base64')}`);
    expect(signatureHeader({ id, timestamp: Number(timestamp), body }, [segredo])).toBe(given['webhook-signature']);
  });

  it('is the delivery that the page shows', () => {
    const delivery = shown.blocks[0]?.text ?? '';
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      expect(delivery).toContain(`\n${name}: ${given[name]}\n`);
    expect(delivery.split('\n\n')[1]).toBe(body);
  });
});
