import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hasRunKeyForm,
  isRunKey,
  makeReadSecret,
  makeReceiver,
  makeRunKey,
  parseReceipt,
} from '../../../lambdas/smoke/receiver.ts';
import { ownReceiver } from '../../../lambdas/smoke/smoke-test.ts';
import { httpRequest } from '../../support/http-request.ts';

const now = Date.UTC(2026, 10, 22, 3);
const secret = 'a-secret-of-the-stage';
const key = makeRunKey(secret, now + 60_000, 'nonce');

const headersOf = (authorization: string | undefined) => ({
  'webhook-id': 'evt_1',
  'webhook-timestamp': '1763780400',
  'webhook-signature': 'v1,abc',
  ...(authorization === undefined ? {} : { authorization }),
});

/** Sends a request, and counts how often the secret was asked for. */
const send = async (authorization: string | undefined, body = '{"event":"demanda.criada"}', at = now) => {
  let reads = 0;
  const receive = makeReceiver({
    readSecret: async () => {
      reads += 1;
      return secret;
    },
    now: () => at,
  });
  const response = await receive(httpRequest({ method: 'POST', headers: headersOf(authorization), body }));
  return { ...response, reads };
};

const refusal = { statusCode: 401, headers: { 'cache-control': 'no-store' }, body: '' };

describe('the receiver', () => {
  it('answers a delivery that has a key with its receipt: digests, and what was signed', async () => {
    const body = '{"event":"demanda.criada","id_demanda":1}';
    const response = await send(key, body);
    expect(response.statusCode).toBe(200);
    const digest = (text: string) => createHash('sha256').update(text).digest('base64url');
    expect(parseReceipt(response.body ?? '')).toEqual({
      id: 'evt_1',
      timestamp: '1763780400',
      signature: 'v1,abc',
      authorization: digest(key),
      body: digest(body),
    });
    expect(response.body).not.toContain(key);
    expect(response.body?.length).toBeLessThan(1_024); // the service keeps no more of an answer
  });

  it.each([
    ['without a key', undefined],
    ['with an empty one', ''],
    ['with another scheme', key.replace('Bearer', 'Basic')],
    ['with more behind it', `${key}, ${key}`],
    ['with a huge one', `Bearer ${'9'.repeat(10_000_000)}.n.${'A'.repeat(43)}`],
    ['with a huge nonce', makeRunKey(secret, now + 60_000, 'n'.repeat(65))],
    ['with a MAC that is too short', key.slice(0, -1)],
  ])('refuses a request %s, and does not even read the secret', async (_case, authorization) => {
    expect(await send(authorization)).toEqual({ ...refusal, reads: 0 });
  });

  it.each([
    ['forged', makeRunKey('another', now + 60_000, 'nonce'), now],
    ['expired', key, now + 60_000],
    ['prolonged', key.replace(/^Bearer \d+/, 'Bearer 99999999999'), now],
  ])('refuses a key that is %s, whatever the body is, with the same answer', async (_case, authorization, at) => {
    for (const body of ['', 'x'.repeat(1_000_000)]) {
      expect(await send(authorization, body, at)).toEqual({ ...refusal, reads: 1 });
    }
  });

  it('answers 503 while there is no secret', async () => {
    const receive = makeReceiver({ readSecret: async () => undefined, now: () => now });
    expect(await receive(httpRequest({ headers: headersOf(key) }))).toMatchObject({ statusCode: 503, body: '' });
  });
});

describe('the key of a test', () => {
  const text = fc.string({ unit: 'binary', maxLength: 300 });
  const keys = fc.record({
    secret: fc.string({ minLength: 1 }),
    expiresAt: fc.integer({ min: 1, max: 9_999_999_999_000 }),
    nonce: fc.stringMatching(/^[0-9A-Za-z]{1,64}$/),
  });

  it('is accepted until it expires, and only with its secret', () => {
    fc.assert(
      fc.property(keys, fc.string({ minLength: 1 }), (made, other) => {
        const made_ = makeRunKey(made.secret, made.expiresAt, made.nonce);
        const expiry = Math.ceil(made.expiresAt / 1_000) * 1_000;
        expect(hasRunKeyForm(made_)).toBe(true);
        expect(isRunKey(made_, made.secret, expiry - 1)).toBe(true);
        expect(isRunKey(made_, made.secret, expiry)).toBe(false);
        if (other !== made.secret) expect(isRunKey(made_, other, expiry - 1)).toBe(false);
      }),
    );
  });

  it('is refused with any change, and so is any other text, without an error', () => {
    fc.assert(
      fc.property(keys, fc.nat(), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), (made, at, character) => {
        const whole = makeRunKey(made.secret, made.expiresAt, made.nonce);
        const index = at % whole.length;
        const changed = whole.slice(0, index) + character + whole.slice(index + 1);
        fc.pre(changed !== whole);
        // The last character of a MAC holds two bits that mean nothing.
        fc.pre(index < whole.length - 1);
        expect(isRunKey(changed, made.secret, 0)).toBe(false);
      }),
    );
    fc.assert(
      fc.property(text, value => {
        for (const header of [value, `Bearer ${value}`]) expect(isRunKey(header, secret, 0)).toBe(false);
      }),
    );
  });

  it('is made by a test for as long as the test may last, and more for clocks that differ', async () => {
    const receiver = ownReceiver({
      url: 'https://receiver.example.com/',
      readSecret: async () => secret,
      now: () => now,
      makeId: length => 'n'.repeat(length),
    });
    const made = await receiver.makeKey();
    expect(isRunKey(made, secret, now + 480_000 - 1)).toBe(true);
    expect(isRunKey(made, secret, now + 480_000)).toBe(false);
  });
});

describe('the secret of the receiver', () => {
  const world = (values: (string | Error | undefined)[]) => {
    const state = { now, reads: 0, lines: [] as unknown[] };
    const readSecret = makeReadSecret({
      readParameter: async () => {
        const value = values[Math.min(state.reads, values.length - 1)];
        state.reads += 1;
        if (value instanceof Error) throw value;
        return value;
      },
      name: '/emissor/dev/smoke/receiver-key',
      log: { error: (...line: unknown[]) => void state.lines.push(line) },
      now: () => state.now,
    });
    return { state, readSecret };
  };

  it('is read once a minute, however many ask for it', async () => {
    const { state, readSecret } = world(['one', 'two']);
    expect(await Promise.all([readSecret(), readSecret(), readSecret()])).toEqual(['one', 'one', 'one']);
    state.now += 59_999;
    expect(await readSecret()).toBe('one');
    state.now += 1;
    expect(await readSecret()).toBe('two');
    expect(state).toMatchObject({ reads: 2, lines: [] });
  });

  it.each([
    ['is missing', undefined, 'smoke.secret_missing'],
    ['cannot be read', new Error('the secret is x'), 'smoke.secret_not_read'],
  ])('is looked for every ten seconds where it %s, with one line each time', async (_case, first, message) => {
    const { state, readSecret } = world([first, 'found']);
    for (let times = 0; times < 100; times++) expect(await readSecret()).toBeUndefined();
    expect(state.reads).toBe(1);
    expect(state.lines).toEqual([[message, expect.objectContaining({ parameter: '/emissor/dev/smoke/receiver-key' })]]);
    expect(JSON.stringify(state.lines)).not.toContain('the secret is');
    state.now += 10_000;
    expect(await readSecret()).toBe('found');
  });
});
