import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signatureHeader } from '../../../../lambdas/delivery/attempt/signature.ts';

const secretOf = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString('base64')}`;
const bytes = fc.uint8Array({ minLength: 24, maxLength: 64 });

describe('the webhook-signature header', () => {
  it('equals the example in the Standard Webhooks specification', () => {
    const content = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' };
    expect(signatureHeader(content, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });

  it('can be verified by the published library with each of several secrets', () => {
    const timestamp = Math.floor(Date.now() / 1_000);
    fc.assert(
      fc.property(fc.array(bytes, { minLength: 1, maxLength: 4 }), fc.json(), (keys, body) => {
        const secrets = keys.map(secretOf);
        const signature = signatureHeader({ id: 'evt_1', timestamp, body }, secrets);
        expect(signature.split(' ')).toHaveLength(secrets.length);
        const signed = { 'webhook-id': 'evt_1', 'webhook-timestamp': `${timestamp}`, 'webhook-signature': signature };
        for (const secret of secrets) new Webhook(secret).verify(body, signed, { jsonParse: false });
      }),
      { numRuns: 25 },
    );
  });
});
