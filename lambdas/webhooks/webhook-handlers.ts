import type * as z from 'zod/mini';
import { retryAfter } from '../api/problem.ts';
import { parseJsonBody } from '../api/request-body.ts';
import {
  type BodyProblemName,
  type ContextOf,
  type Handlers,
  jsonResponse,
  noContent,
  type RequestContext,
} from '../api/route.ts';
import { requireValid, validate } from '../api/validation.ts';
import { type Clock, isoTime } from '../platform/clock.ts';
import type { Encryption } from '../platform/encryption.ts';
import type { HttpResponse } from '../platform/http.ts';
import type { MakeId } from '../platform/identifiers.ts';
import type { OperationId } from '../platform/route-table.ts';
import { fillIn } from '../platform/text-template.ts';
import type { Pause } from '../platform/timer.ts';
import { requireEventName } from './event-in-path.ts';
import { registration, replacement, secretRotation, urlIn } from './input.ts';
import { toWebhookRecord, type webhookRecord } from './representation.ts';
import type { newSecret, registeredWebhook, webhookList } from './responses.ts';
import { makeRetryChange } from './retry-change.ts';
import { webhookRoutes } from './routes.ts';
import { type MakeSigningSecret, replaceSecret } from './signing-secret.ts';
import type { UrlValidation } from './url-validation.ts';
import { authorizationBinding, type EventName, secretBinding, type Webhook } from './webhook.ts';
import type { WebhookStore } from './webhook-store.ts';

/**
 * Returns the time at which each event moved to the slow lane, in milliseconds since the epoch, or `undefined` if the event does not use
 * this lane. Accepts at most 100 events.
 */
export type ReadSlowSince = (
  events: readonly { readonly accountId: string; readonly eventName: EventName }[],
) => Promise<readonly (number | undefined)[]>;

/** Returns an account's events of the past 30 days that had no webhook. The values are their latest times (milliseconds since the epoch). */
export type ReadUnregisteredEvents = (accountId: string) => Promise<ReadonlyMap<EventName, number>>;

export function makeWebhookHandlers(dependencies: {
  readonly store: WebhookStore;
  readonly readSlowSince: ReadSlowSince;
  readonly readUnregisteredEvents: ReadUnregisteredEvents;
  readonly encryption: Pick<Encryption, 'encrypt'>;
  readonly urls: UrlValidation;
  /** Counts a registration or replacement of an account. Returns the whole seconds to wait if the account exceeds the limit. */
  readonly countRegistration: (accountId: string) => Promise<number | undefined>;
  readonly makeSecret: MakeSigningSecret;
  readonly makeId: MakeId;
  readonly now: Clock;
  readonly pause: Pause;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
}): Handlers<typeof webhookRoutes> {
  const { store, readSlowSince, readUnregisteredEvents, encryption, urls, countRegistration, makeSecret, makeId, now } =
    dependencies;
  const retryChange = makeRetryChange(dependencies);

  return { listWebhooks, registerWebhook, getWebhook, replaceWebhook, deleteWebhook, rotateSecret, reactivateWebhook };

  async function listWebhooks({ caller }: Context<'listWebhooks'>): Promise<HttpResponse> {
    const { accountId } = caller;
    const [webhooks, occurrences] = await Promise.all([store.list(accountId), readUnregisteredEvents(accountId)]);
    const slowSince = await readSlowSince(webhooks);
    const registered = new Set(webhooks.map(({ eventName }) => eventName));
    const unregisteredEvents = [...occurrences].filter(([eventName]) => !registered.has(eventName));
    return jsonResponse<typeof webhookList>(200, {
      webhooks: webhooks.map((webhook, at) => toWebhookRecord(webhook, slowSince[at], now())),
      eventos_sem_webhook: unregisteredEvents.map(([evento, latest]) => ({ evento, ultimo_em: isoTime(latest) })),
    });
  }

  async function registerWebhook(context: Context<'registerWebhook'>): Promise<HttpResponse> {
    const { evento: eventName, url, autorizacao } = await readBodyWithUrl(registration, context);
    const { accountId } = context.caller;
    const secret = makeSecret();
    // Only the response contains the secret, so all steps that can fail precede the registration.
    const [encrypted, encryptedAuthorization, [slowSince]] = await Promise.all([
      encryption.encrypt(secret, secretBinding(accountId, eventName)),
      encryptAuthorization(accountId, eventName, autorizacao),
      readSlowSince([{ accountId, eventName }]),
    ]);
    const createdAt = now();
    const registered = await store.create({
      accountId,
      eventName,
      webhookId: makeId(22),
      url,
      encryptedAuthorization,
      secrets: [{ encrypted, createdAt }],
      status: 'active',
      suspensionReason: null,
      createdAt,
      updatedAt: createdAt,
    });
    if (!registered) throw context.makeProblem('webhook_exists');
    const location = fillIn(webhookRoutes.Webhook.path, { evento: eventName });
    const body = { ...toWebhookRecord(registered, slowSince, createdAt), segredo: secret };
    return jsonResponse<typeof registeredWebhook>(201, body, { location });
  }

  async function getWebhook(context: Context<'getWebhook'>): Promise<HttpResponse> {
    const eventName = requireEventName(context);
    const { accountId } = context.caller;
    const webhook = await store.find(accountId, eventName);
    if (!webhook) throw context.makeProblem('webhook_not_found');
    return respondWith(webhook);
  }

  async function replaceWebhook(context: Context<'replaceWebhook'>): Promise<HttpResponse> {
    const { url, autorizacao } = await readBodyWithUrl(replacement, context);
    const eventName = requireEventName(context);
    const { accountId } = context.caller;
    const encryptedAuthorization = await encryptAuthorization(accountId, eventName, autorizacao);
    const webhook = await retryChange(context.makeProblem, async () => {
      const current = await store.find(accountId, eventName);
      if (!current) throw context.makeProblem('webhook_not_found');
      return store.replace(current, { url, encryptedAuthorization, updatedAt: now() });
    });
    return respondWith(webhook);
  }

  async function deleteWebhook(context: Context<'deleteWebhook'>): Promise<HttpResponse> {
    const eventName = requireEventName(context);
    const { accountId } = context.caller;
    let webhookId: string | undefined;
    return retryChange(context.makeProblem, async () => {
      const removal = await store.remove(accountId, eventName, now(), webhookId);
      if (removal === 'not_registered') throw context.makeProblem('webhook_not_found');
      if (removal === 'removed') return noContent;
      webhookId = removal.remainingId;
      return undefined;
    });
  }

  async function rotateSecret(context: Context<'rotateSecret'>): Promise<HttpResponse> {
    const { request, makeProblem } = context;
    const body = parseJsonBody(request, makeProblem, true);
    const { imediato: isImmediate } = requireValid(secretRotation, body, makeProblem);
    const eventName = requireEventName(context);
    const { accountId } = context.caller;
    const secret = makeSecret();
    const encrypted = await encryption.encrypt(secret, secretBinding(accountId, eventName));
    return retryChange(makeProblem, async () => {
      const webhook = await store.find(accountId, eventName);
      if (!webhook) throw context.makeProblem('webhook_not_found');
      const replacedAt = now();
      const replaced = replaceSecret(webhook.secrets, encrypted, replacedAt, isImmediate);
      if (replaced.outcome === 'too_many') {
        throw makeProblem('too_many_secrets', { headers: retryAfter((replaced.until - replacedAt) / 1_000) });
      }
      const isReplaced = await store.replaceSecrets(webhook, replaced.secrets, replacedAt);
      return isReplaced ? jsonResponse<typeof newSecret>(201, { segredo: secret }) : undefined;
    });
  }

  async function reactivateWebhook(context: Context<'reactivateWebhook'>): Promise<HttpResponse> {
    const eventName = requireEventName(context);
    const { accountId } = context.caller;
    const webhook = await store.reactivate(accountId, eventName, now());
    if (!webhook) throw context.makeProblem('webhook_not_found');
    if (webhook.suspensionReason === 'operator') throw context.makeProblem('suspended_by_operator');
    return respondWith(webhook);
  }

  async function respondWith(webhook: Webhook): Promise<HttpResponse> {
    const [slowSince] = await readSlowSince([webhook]);
    return jsonResponse<typeof webhookRecord>(200, toWebhookRecord(webhook, slowSince, now()));
  }

  /**
   * Returns the body if it is valid. Counts the request before resolving the host. Otherwise, an account could occupy all Lambda executions
   * with name servers that do not respond.
   */
  async function readBodyWithUrl<Schema extends z.ZodMiniType>(
    schema: Schema,
    { caller, request, makeProblem }: RequestContext<BodyProblemName | 'registration_limit_reached'>,
  ): Promise<z.output<Schema>> {
    const body = parseJsonBody(request, makeProblem);
    const { value, findings } = validate(schema, body);
    const url = urlIn(body);
    const errors = [...findings, ...(url === undefined ? [] : urls.validateText(url))];
    if (value === undefined || url === undefined || errors.length > 0)
      throw makeProblem('validation_failed', { errors });
    const seconds = await countRegistration(caller.accountId);
    if (seconds !== undefined) throw makeProblem('registration_limit_reached', { headers: retryAfter(seconds) });
    const hostErrors = await urls.validateHost(url);
    if (hostErrors.length > 0) throw makeProblem('validation_failed', { errors: hostErrors });
    return value;
  }

  async function encryptAuthorization(
    accountId: string,
    eventName: EventName,
    authorization: string | undefined,
  ): Promise<string | undefined> {
    if (authorization === undefined) return undefined;
    return encryption.encrypt(authorization, authorizationBinding(accountId, eventName));
  }
}

type Context<Id extends OperationId<typeof webhookRoutes>> = ContextOf<typeof webhookRoutes, Id>;
