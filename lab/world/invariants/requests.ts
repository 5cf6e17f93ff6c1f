import { matchPath } from '../../../lambdas/api/route.ts';
import { deliveryRoutes } from '../../../lambdas/delivery/api/routes.ts';
import { replaysId } from '../../../lambdas/delivery/replay/replay-store.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { webhookRoutes } from '../../../lambdas/webhooks/routes.ts';
import type { Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { eventName } from '../arrival.ts';
import type { World } from '../make-world.ts';
import { type CompletedRequest, hasKnownEffect } from '../requests.ts';
import { requestLimits } from '../stage.ts';
import { minute } from '../times.ts';
import { itemsWithin } from '../watched-tables.ts';
import type { Evidence } from './evidence.ts';
import type { Check, Violate } from './violation.ts';

/** Checks each response against the state of the tables during the request. Changes must be stored, and rejections must have a reason. */
export function checkRequests(
  { completed, people, watched, faultClass }: World,
  evidence: () => Evidence,
  violate: Violate,
): Check {
  return { checkAtEnd };

  function checkAtEnd(): void {
    for (const failure of people.failures()) violate(`a simulated user failed: ${failure}`);
    for (const one of completed()) {
      const problem = hasKnownEffect(one) ? checkResponse(one) : checkServerError(one);
      if (problem !== undefined)
        violate(`${one.method} ${one.path} of ${one.account}: ${one.status} ${codeOf(one)}, ${problem}`);
    }
    checkLimit(deliveryRoutes.Test.path, requestLimits.testLimit);
    checkLimit(deliveryRoutes.Resend.path, requestLimits.resendLimit);
  }

  /** Returns a description of the violation, or `undefined` if the response is correct. */
  function checkResponse(one: CompletedRequest): string | undefined {
    const { status, account } = one;
    if (status === 401)
      return people.wasAbsent(account, one.sentAt, one.endedAt) ? undefined : 'although the account has a token';
    if (status === 404 && codeOf(one) === 'webhook_not_found') return checkNotFound(one);
    if (matchesRoute(one, deliveryRoutes.Replay.path)) return checkReplay(one);
    if (status === 409 && codeOf(one) === 'suspended_by_operator') {
      return webhooksDuring(one).some(webhook => webhook?.suspensionReason === 'operator')
        ? undefined
        : 'although no operator suspended it';
    }
    if (status === 409 && codeOf(one) === 'webhook_suspended') {
      return webhooksDuring(one).some(webhook => webhook?.status === 'suspended')
        ? undefined
        : 'although it was active';
    }
    if (status >= 400) return codeOf(one) === 'webhook_exists' ? checkConflict(one) : checkOtherRejection(one);
    if (matchesRoute(one, webhookRoutes.Webhooks.path) && one.method === 'POST') return checkRegistration(one);
    if (matchesRoute(one, webhookRoutes.Webhook.path)) return checkWebhook(one);
    if (matchesRoute(one, webhookRoutes.Secret.path)) return checkRotation(one);
    if (matchesRoute(one, webhookRoutes.Reactivation.path)) {
      return webhooksDuring(one).some(webhook => webhook?.status === 'active') ? undefined : 'but it was never active';
    }
    if (matchesRoute(one, deliveryRoutes.Test.path)) return checkTest(one);
    if (matchesRoute(one, deliveryRoutes.Resend.path)) return checkResend(one);
    return undefined;
  }

  /** Checks a 5xx response. A service fault may cause a 503. */
  function checkServerError(one: CompletedRequest): string | undefined {
    if (one.status === 500) return 'an internal error';
    return faultClass === 'none' ? 'without faults' : undefined;
  }

  /** Checks a 404. Only another request may have deleted the webhook, because a retried call must recognise its own effect. */
  function checkNotFound(one: CompletedRequest): string | undefined {
    const webhooks = webhooksDuring(one);
    const isOwnDeletion =
      one.method === 'DELETE' && matchesRoute(one, webhookRoutes.Webhook.path) && webhooks[0] !== undefined;
    if (isOwnDeletion && !people.wasDeleted(one.account, one.sentAt))
      return 'although it existed when the request arrived';
    return webhooks.some(webhook => webhook === undefined) ? undefined : 'although it existed';
  }

  /** Checks a conflict. A repeated request may find the webhook that its first attempt created. */
  function checkConflict(one: CompletedRequest): string | undefined {
    const isRepeated = completed().some(
      earlier => !hasKnownEffect(earlier) && earlier.endedAt <= one.sentAt && earlier.body?.url === one.body?.url,
    );
    const others = webhooksDuring(one).filter(webhook => webhook && (isRepeated || webhook.url !== one.body?.url));
    return others.length > 0 ? undefined : 'although no other webhook existed';
  }

  /** Checks the other 4xx responses by their code, and by the delivery in their path if there is one. */
  function checkOtherRejection(one: CompletedRequest): string | undefined {
    const code = codeOf(one);
    const [, id = ''] = /\/entregas\/([^/]+)/.exec(one.path) ?? [];
    const delivery = evidence().deliveries.get(id);
    if (code === 'delivery_not_found') {
      const stored = delivery?.findLast(({ at }) => at <= one.sentAt)?.delivery;
      return stored?.accountId === one.account ? 'although it exists' : undefined;
    }
    if (code === 'webhook_replaced') {
      const own = delivery?.find(change => change.delivery)?.delivery?.webhookId;
      return webhooksDuring(one).some(webhook => webhook?.webhookId !== own)
        ? undefined
        : 'although it belongs to the current webhook';
    }
    const expected = ['rate_limited', 'replay_in_progress', 'too_many_secrets', 'test_delivery'];
    return expected.includes(code) ? undefined : 'an unexpected code';
  }

  function checkRegistration(one: CompletedRequest): string | undefined {
    const stored = webhooksDuring(one).find(webhook => webhook?.url === one.body?.url);
    if (!stored) return 'but it was not stored';
    const [secret] = stored.secrets;
    if (people.decrypt(secret?.encrypted) !== one.response.segredo) return 'but another secret was stored';
    return credentialOf(stored) === one.body?.autorizacao ? undefined : 'but another credential was stored';
  }

  function checkWebhook(one: CompletedRequest): string | undefined {
    const webhooks = webhooksDuring(one);
    if (one.method === 'DELETE') return webhooks.some(webhook => !webhook) ? undefined : 'but it still exists';
    const expected = one.method === 'PUT' ? one.body?.url : one.response.url;
    const stored = webhooks.filter(webhook => webhook?.url === expected);
    if (stored.length === 0) return 'but this state was never stored';
    const formerSecrets = one.response.segredos_anteriores; // worlds end before a secret expires
    if (!Array.isArray(formerSecrets) || !stored.some(webhook => webhook?.secrets.length === formerSecrets.length + 1))
      return 'but the stored secrets differ';
    if (one.method !== 'PUT') return undefined;
    const isStored = stored.some(webhook => webhook && credentialOf(webhook) === one.body?.autorizacao);
    return isStored ? undefined : 'but another credential was stored';
  }

  function checkRotation(one: CompletedRequest): string | undefined {
    const secretLists = webhooksDuring(one).map(webhook => webhook?.secrets ?? []);
    const rotated = secretLists.find(([secret]) => people.decrypt(secret?.encrypted) === one.response.segredo);
    if (!rotated) return 'but the secret was never stored';
    if (one.body?.imediato === true) return rotated.length === 1 ? undefined : 'but earlier secrets remain';
    return rotated.length > 1 ? undefined : 'but the earlier secret is missing';
  }

  /** Checks that an accepted test is stored. */
  function checkTest({ account, sentAt, endedAt, response }: CompletedRequest): string | undefined {
    const changes = evidence().deliveries.get(String(response.id)) ?? [];
    if (!changes.some(({ at, delivery }) => delivery && at <= endedAt)) return 'but it is not stored';
    const ended = changes.at(-1)?.delivery?.state;
    return ended === undefined && !people.wasDeleted(account, sentAt) ? 'but it was deleted' : undefined;
  }

  /** Checks that an accepted resend causes an attempt or the end of the delivery, and that the webhook was active. */
  function checkResend(one: CompletedRequest): string | undefined {
    const { account, sentAt, response } = one;
    if (!webhooksDuring(one).some(webhook => webhook?.status === 'active')) return 'but it was never active';
    const changes = evidence().deliveries.get(String(response.id)) ?? [];
    const hasEffect = changes.some(({ at, delivery }, index) => {
      const before = changes[index - 1]?.delivery;
      if (at < sentAt || !delivery || !before) return false;
      return delivery.attempt > before.attempt || (before.state === 'pending' && delivery.state !== 'pending');
    });
    return hasEffect || people.wasDeleted(account, sentAt) ? undefined : 'but no attempt followed';
  }

  /** Checks a returned replay. The API must return a replay until its item expires, even after a later replay. */
  function checkReplay({ path, account, sentAt, endedAt, status }: CompletedRequest): string | undefined {
    const id = path.split('/').at(-1);
    const isShown = (item: Item | undefined) => item?.replayId === id && !(Number(item?.ttl) * 1_000 <= endedAt);
    const [latest = [], past = []] = [headPart, `past#${id}`].map(part => {
      const changes = watched.changesOf('Deliveries').get(`${replaysId({ accountId: account, eventName })} ${part}`);
      return itemsWithin(changes ?? [], sentAt, endedAt);
    });
    if (status === 404) return [latest, past].some(items => items.every(isShown)) ? 'although it exists' : undefined;
    return [...latest, ...past].some(isShown) ? undefined : 'although it does not exist';
  }

  /** Checks the limit of requests per minute. Without faults, no request below the limit may be rejected. A retried write may count twice. */
  function checkLimit(path: string, limit: number): void {
    const attempts = completed().filter(one => matchesRoute(one, path) && one.method === 'POST');
    for (const one of attempts) {
      const recent = attempts.filter(
        ({ account, endedAt }) => account === one.account && endedAt > one.sentAt - minute && endedAt <= one.endedAt,
      );
      const counted = recent.filter(({ status }) => status === 202 || status >= 500);
      if (one.status === 429 && counted.length < limit && faultClass === 'none')
        violate(`${path} of ${one.account}: rejected below the limit`);
      const accepted = recent.filter(({ status }) => status === 202).length;
      if (accepted > 2 * limit) violate(`${path} of ${one.account}: accepted more requests than the limit`);
    }
  }

  function webhooksDuring({ account, sentAt, endedAt }: CompletedRequest): readonly (Webhook | undefined)[] {
    return evidence().webhooksWithin({ accountId: account, eventName }, sentAt, endedAt);
  }

  function credentialOf({ encryptedAuthorization }: Webhook): string | undefined {
    return encryptedAuthorization === undefined ? undefined : people.decrypt(encryptedAuthorization);
  }
}

function matchesRoute({ path }: CompletedRequest, pattern: string): boolean {
  return matchPath(pattern, path.split('?', 1)[0] ?? '') !== undefined;
}

function codeOf({ response }: CompletedRequest): string {
  return String(response.code ?? '');
}
