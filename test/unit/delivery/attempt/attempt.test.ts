import { describe, expect, it } from 'vitest';
import type { AttemptDependencies } from '../../../../lambdas/delivery/attempt/attempt.ts';
import type { PostFailure, PostOutcome } from '../../../../lambdas/platform/egress/guarded-post.ts';
import type { FailureCause } from '../../../../lambdas/platform/egress/network-error.ts';
import { aDelivery, aRecord, aResponse, attemptWith, aWebhook, fakeNetwork, noon, secret } from '../builders.ts';
import { encryptAlike } from '../test-keyring.ts';

const hour = 60 * 60_000;

const attemptOver = (postOutcome: PostOutcome, changes: Partial<AttemptDependencies> = {}) => {
  const network = fakeNetwork(postOutcome);
  return { attempt: attemptWith({ post: network.post, ...changes }), requests: network.requests };
};

const sentFor = async (...[webhook, delivery]: Parameters<ReturnType<typeof attemptWith>>) => {
  const { attempt, requests } = attemptOver(aResponse(200));
  await attempt(webhook, delivery);
  const [request] = requests;
  if (!request) throw new Error('The attempt sent no request.');
  return request;
};

describe('a request to a receiver', () => {
  it('contains the body and exactly these headers', async () => {
    const request = await sentFor(aWebhook(), aDelivery());
    expect(request).toMatchObject({
      url: 'https://receiver.example.com/hooks',
      body: '{"event":"demanda.criada","id_demanda":1}',
      deadlineMs: 15_000,
      connectTimeoutMs: 700,
    });
    expect(request.headers).toEqual({
      'Content-Type': 'application/json',
      'User-Agent': 'Emissor/1.2.3',
      'webhook-id': 'evt_000000000000000000000000001',
      'webhook-timestamp': String(noon / 1_000),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
  });

  it('is also signed with a replaced secret for 24 h', async () => {
    const encrypted = encryptAlike(secret, 'conta-1/demanda.criada/segredo');
    const secrets = [
      { encrypted, createdAt: noon },
      { encrypted, createdAt: 0, replacedAt: noon - 24 * hour + 1 },
      { encrypted, createdAt: 0, replacedAt: noon - 24 * hour },
    ];
    const request = await sentFor(aWebhook({ secrets }), aDelivery());
    expect(request.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  });
});

describe('an attempt', () => {
  it.each([200, 201, 204, 299])('succeeds with status %i', async status => {
    const outcome = await attemptOver(aResponse(status, {}, 'ok')).attempt(aWebhook(), aDelivery({ attempt: 3 }));
    const record = aRecord({ number: 3, durationMs: 12, result: 'delivered', status, response: 'ok' });
    expect(outcome).toEqual({ outcome: 'delivered', record });
  });

  const failing = [100, 199, 300, 301, 302, 307, 400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 599];
  it.each([...failing, 410])('fails with status %i, and only 410 suspends the webhook', async status => {
    const outcome = await attemptOver(aResponse(status)).attempt(aWebhook(), aDelivery());
    expect(outcome).toMatchObject({ outcome: status === 410 ? 'gone' : 'failed', record: { result: 'http', status } });
  });

  it.each<[PostFailure, FailureCause | null, string, string]>([
    ['timeout', 'no_headers', 'failed', 'timeout'],
    ['connection', 'reset', 'failed', 'connection'],
    ['tls', null, 'failed', 'tls'],
    ['dns', 'unknown_name', 'failed', 'dns'],
    ['blocked', null, 'failed', 'blocked'],
    ['internal_error', null, 'internal_error', 'internal'],
  ])('that ends with %s and cause %s has outcome %s and result %s', async (kind, cause, outcome, result) => {
    const postOutcome = { outcome: kind, cause, errorCode: 'why', durationMs: 5 };
    const actual = await attemptOver(postOutcome).attempt(aWebhook(), aDelivery());
    const record = { result, cause, status: null, response: null };
    expect(actual).toMatchObject({ outcome, errorCode: 'why', record });
  });

  it('does not store a credential that the receiver echoes', async () => {
    const encryptedAuthorization = encryptAlike('Bearer s3cr3t-t0ken', 'conta-1/demanda.criada/autorizacao');
    const { attempt } = attemptOver(
      aResponse(401, {}, '{"authorization":"Bearer s3cr3t-t0ken","token":"s3cr3t-t0ken"}'),
    );
    const outcome = await attempt(aWebhook({ encryptedAuthorization }), aDelivery());
    expect(outcome.record.response).toBe('{"authorization":"***","token":"***"}');
  });
});

describe('internal errors', () => {
  it('include a credential that cannot be decrypted, and no request is sent', async () => {
    const { attempt, requests } = attemptOver(aResponse(200));
    const outcome = await attempt(
      aWebhook({ encryptedAuthorization: encryptAlike('x', 'another/binding') }),
      aDelivery(),
    );
    expect(outcome).toMatchObject({ outcome: 'internal_error', record: { result: 'internal', status: null } });
    expect(requests).toEqual([]);
  });

  it('are stored without their messages, which may contain secrets', async () => {
    const open = () => Promise.reject(new Error('canary-7f3a'));
    const { attempt } = attemptOver(aResponse(200), { encryption: { decrypt: open } });
    expect(JSON.stringify(await attempt(aWebhook(), aDelivery()))).not.toContain('canary-7f3a');
  });
});
