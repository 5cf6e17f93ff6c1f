import { type Clock, isoTime } from '../../platform/clock.ts';
import type { GuardedPost, PostOutcome } from '../../platform/egress/guarded-post.ts';
import type { Encryption } from '../../platform/encryption.ts';
import { describeError, type ErrorDescription } from '../../platform/telemetry.ts';
import { isSigning } from '../../webhooks/signing-secret.ts';
import { authorizationBinding, secretBinding, type Webhook } from '../../webhooks/webhook.ts';
import { retryAfterWait } from '../backoff.ts';
import type { AttemptOutcome, AttemptRecord, AttemptResult, Delivery } from '../delivery.ts';
import type { AttemptWatch } from './attempt-watch.ts';
import { makeRedaction } from './redaction.ts';
import { signatureHeader } from './signature.ts';

/** The connection timeout per lane, for each address of a receiver, in milliseconds. */
export const connectTimeouts = { first: 700, retry: 700, slow: 4_000 } as const;

/** Makes one attempt. The receiver receives at most one POST. Never throws. */
export type Attempt = (webhook: Webhook, delivery: Delivery, progress?: AttemptProgress) => Promise<AttemptOutcome>;

export interface AttemptDependencies {
  /** The guarded client, which prevents server-side request forgery (SSRF) by checking every address before it connects. */
  readonly post: GuardedPost;
  readonly encryption: Pick<Encryption, 'decrypt'>;
  readonly now: Clock;
  /** The timeout from name resolution to the last response header, in milliseconds. */
  readonly attemptTimeoutMs: number;
  /** The connection timeout for each address of a receiver, in milliseconds. */
  readonly connectTimeoutMs: number;
  readonly serviceVersion: string;
}

/** Returns the function that decrypts the webhook's credentials, signs the body and posts it through the SSRF guard. */
export function makeAttempt(dependencies: AttemptDependencies): Attempt {
  const { post, encryption, now, attemptTimeoutMs, connectTimeoutMs, serviceVersion } = dependencies;

  return async function attempt(webhook, delivery, progress) {
    const startedAt = now();
    let postOutcome: PostOutcome;
    let fault: ErrorDescription | undefined;
    try {
      const credentials = await decryptCredentials(encryption, webhook, startedAt);
      progress?.onResolving();
      postOutcome = await post({
        accountId: webhook.accountId,
        url: webhook.url,
        headers: headersFor(delivery, credentials, startedAt),
        body: delivery.body,
        deadlineMs: attemptTimeoutMs,
        connectTimeoutMs,
        redact: makeRedaction(credentials.authorization),
        ...(progress && {
          signal: progress.signal,
          onResponse: progress.onResponse,
        }),
      });
    } catch (error) {
      fault = describeError(error);
      const durationMs = now() - startedAt;
      postOutcome = { outcome: 'internal_error', cause: null, errorCode: fault.errorName, durationMs };
    }
    return {
      ...outcomeOf(postOutcome, recordOf(postOutcome, delivery.attempt, startedAt), now()),
      ...(fault && { fault }),
    };
  };

  /** Returns the Standard Webhooks headers. `webhook-id` is the same in every attempt, so receivers can drop duplicates. */
  function headersFor({ id, body }: Delivery, { authorization, secrets }: Credentials, at: number) {
    const timestamp = Math.floor(at / 1_000);
    return {
      'Content-Type': 'application/json',
      'User-Agent': `Emissor/${serviceVersion}`,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureHeader({ id, timestamp, body }, secrets),
      ...(authorization !== undefined && { Authorization: authorization }),
    };
  }
}

/** The part of a watch that an attempt uses. The attempt reports its progress, and stops when the signal aborts. */
type AttemptProgress = Pick<AttemptWatch, 'signal' | 'onResolving' | 'onResponse'>;

interface Credentials {
  readonly authorization: string | undefined;
  readonly secrets: readonly string[];
}

async function decryptCredentials(
  encryption: AttemptDependencies['encryption'],
  { accountId, eventName, encryptedAuthorization, secrets }: Webhook,
  now: number,
): Promise<Credentials> {
  const activeSecrets = secrets.filter(secret => isSigning(secret, now));
  const [authorization, ...decrypted] = await Promise.all([
    encryptedAuthorization && encryption.decrypt(encryptedAuthorization, authorizationBinding(accountId, eventName)),
    ...activeSecrets.map(({ encrypted }) => encryption.decrypt(encrypted, secretBinding(accountId, eventName))),
  ]);
  return { authorization: authorization || undefined, secrets: decrypted.filter(secret => secret !== undefined) };
}

function recordOf(postOutcome: PostOutcome, number: number, startedAt: number): AttemptRecord {
  return {
    number,
    startedAt: isoTime(startedAt),
    durationMs: Math.round(postOutcome.durationMs),
    result: resultOf(postOutcome),
    cause: 'cause' in postOutcome ? postOutcome.cause : null,
    status: postOutcome.outcome === 'response' ? postOutcome.status : null,
    response: postOutcome.outcome === 'response' ? postOutcome.bodyStart : null,
  };
}

function resultOf(postOutcome: PostOutcome): AttemptResult {
  switch (postOutcome.outcome) {
    case 'response':
      return isSuccess(postOutcome.status) ? 'delivered' : 'http';
    case 'given_up':
      return 'slow';
    case 'internal_error':
      return 'internal';
    default:
      return postOutcome.outcome;
  }
}

function outcomeOf(postOutcome: PostOutcome, record: AttemptRecord, now: number): AttemptOutcome {
  switch (postOutcome.outcome) {
    case 'response': {
      const { status, headers } = postOutcome;
      if (isSuccess(status)) return { outcome: 'delivered', record };
      if (status === 410) return { outcome: 'gone', record };
      const retryAfterMs = retryAfterWait(status, headers['retry-after'], now);
      return { outcome: 'failed', retryAfterMs, record };
    }
    case 'given_up':
      return { outcome: 'given_up', record };
    case 'internal_error':
      return { outcome: 'internal_error', errorCode: postOutcome.errorCode, record };
    default:
      return { outcome: 'failed', retryAfterMs: undefined, errorCode: postOutcome.errorCode, record };
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}
