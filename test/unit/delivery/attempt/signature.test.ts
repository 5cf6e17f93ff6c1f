import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signatureHeader } from '../../../../lambdas/delivery/attempt/signature.ts';

/* The signature of a request (Standard Webhooks, `docs/en/receiving.md`). */

const secretOf = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString('base64')}`;
const bytes = fc.uint8Array({ minLength: 24, maxLength: 64 });

const verify = (secret: string, content: { id: string; timestamp: number; body: string }, signature: string) =>
  new Webhook(secret).verify(
    content.body,
    {
      'webhook-id': content.id,
      'webhook-timestamp': String(content.timestamp),
      'webhook-signature': signature,
    },
    { jsonParse: false },
  );

describe('the webhook-signature header', () => {
  it('is that of the example in the Standard Webhooks specification', () => {
    const content = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' };
    expect(signatureHeader(content, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });

  it('verifies with the published library, under each of several secrets', () => {
    const timestamp = Math.floor(Date.now() / 1_000);
    fc.assert(
      fc.property(fc.array(bytes, { minLength: 1, maxLength: 4 }), fc.json(), (keys, body) => {
        const content = { id: 'evt_1', timestamp, body };
        const secrets = keys.map(secretOf);
        const signature = signatureHeader(content, secrets);
        expect(signature.split(' ')).toHaveLength(secrets.length);
        for (const secret of secrets) verify(secret, content, signature);
      }),
      { numRuns: 25 },
    );
  });

  it('does not verify for another body or secret', () => {
    const content = { id: 'evt_1', timestamp: Math.floor(Date.now() / 1_000), body: '{}' };
    const secret = secretOf(new Uint8Array(32));
    const signature = signatureHeader(content, [secret]);
    expect(() => verify(secret, { ...content, body: '{} ' }, signature)).toThrow();
    expect(() => verify(secretOf(new Uint8Array(32).fill(1)), content, signature)).toThrow();
  });
});
