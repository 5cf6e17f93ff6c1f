import { type AttemptDependencies, makeAttempt } from '../../../lambdas/delivery/attempt/attempt.ts';
import {
  type AttemptOutcome,
  type AttemptRecord,
  type Delivery,
  newDelivery,
} from '../../../lambdas/delivery/delivery.ts';
import type { DeliveryMetric, DeliveryTelemetry, SweepTelemetry } from '../../../lambdas/delivery/telemetry.ts';
import type { GuardedPost, PostOutcome, PostRequest } from '../../../lambdas/platform/egress/guarded-post.ts';
import { secretBinding, type Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { encryptAlike, encryption } from './test-keyring.ts';

/** Noon on 20 November 2026 UTC, at which frozen clocks start. */
export const noon = Date.UTC(2026, 10, 20, 12);

/** The signing secret of all test webhooks. */
export const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export const aWebhook = (changes: Partial<Webhook> = {}): Webhook => {
  const { accountId = 'conta-1', eventName = 'demanda.criada' } = changes;
  return {
    accountId,
    eventName,
    webhookId: 'webhook-1',
    url: 'https://receiver.example.com/hooks',
    secrets: [{ encrypted: encryptAlike(secret, secretBinding(accountId, eventName)), createdAt: noon }],
    status: 'active',
    suspensionReason: null,
    createdAt: noon,
    updatedAt: noon,
    ...changes,
  };
};

export const aDelivery = (changes: Partial<Delivery> = {}): Delivery => ({
  ...newDelivery({
    id: 'evt_000000000000000000000000001',
    accountId: 'conta-1',
    eventName: 'demanda.criada',
    webhookId: 'webhook-1',
    body: '{"event":"demanda.criada","id_demanda":1}',
    createdAt: noon,
  }),
  ...changes,
});

export const aRecord = (changes: Partial<AttemptRecord> = {}): AttemptRecord => ({
  number: 1,
  startedAt: new Date(noon).toISOString(),
  durationMs: 12,
  result: 'http',
  cause: null,
  status: 500,
  response: 'oops',
  ...changes,
});

export const failure = (changes: Partial<AttemptRecord> = {}, retryAfterMs?: number): AttemptOutcome => {
  return { outcome: 'failed', retryAfterMs, record: aRecord(changes) };
};

/** Returns the outcome of an attempt that an internal error prevented. */
export const internalError = (changes: Partial<AttemptRecord> = {}): AttemptOutcome => ({
  outcome: 'internal_error',
  errorCode: 'KMSInternalException',
  record: aRecord({ result: 'internal', status: null, response: null, ...changes }),
});

export const success: AttemptOutcome = {
  outcome: 'delivered',
  record: aRecord({ result: 'delivered', status: 200, response: 'ok' }),
};

export const aResponse = (status: number, headers: Record<string, string> = {}, bodyStart = ''): PostOutcome => {
  return { outcome: 'response', status, headers, bodyStart, durationMs: 12.4 };
};

export const fakeNetwork = (postOutcome: PostOutcome) => {
  const requests: PostRequest[] = [];
  const post: GuardedPost = async request => {
    requests.push(request);
    return postOutcome.outcome === 'response'
      ? { ...postOutcome, bodyStart: request.redact?.(postOutcome.bodyStart, false) ?? postOutcome.bodyStart }
      : postOutcome;
  };
  return { post, requests };
};

export const attemptWith = (changes: Partial<AttemptDependencies>) =>
  makeAttempt({
    post: fakeNetwork(aResponse(200)).post,
    encryption,
    now: () => noon,
    attemptTimeoutMs: 15_000,
    connectTimeoutMs: 700,
    serviceVersion: '1.2.3',
    ...changes,
  });

/** Creates telemetry that records its input. `lines` is the log as text, and `logged` counts the lines with a message. */
export const fakeTelemetry = () => {
  const lines: string[] = [];
  const counts: Partial<Record<DeliveryMetric, number>> = {};
  const spans: { OldestDue?: number[] } = {};
  const write = (...parts: unknown[]) => {
    lines.push(JSON.stringify(parts));
  };
  const telemetry: DeliveryTelemetry & SweepTelemetry = {
    log: { info: write, warn: write, error: write },
    count: (metric, by = 1) => {
      counts[metric] = (counts[metric] ?? 0) + by;
    },
    measure: (metric, milliseconds) => {
      spans[metric] = [...(spans[metric] ?? []), milliseconds];
    },
  };
  const logged = (message: string) => lines.filter(line => line.startsWith(`["${message}"`)).length;
  return { ...telemetry, lines, logged, counts, spans };
};
