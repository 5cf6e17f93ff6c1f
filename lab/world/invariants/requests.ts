import { matchPath } from '../../../lambdas/api/route.ts';
import { deliveryRoutes } from '../../../lambdas/delivery/api/routes.ts';
import { replaysId } from '../../../lambdas/delivery/replay/replay-store.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { webhookRoutes } from '../../../lambdas/webhooks/routes.ts';
import type { Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { eventName } from '../arrival.ts';
import type { World } from '../make-world.ts';
import { type Answered, isKnown } from '../requests.ts';
import { requestLimits } from '../stage.ts';
import { minute } from '../times.ts';
import { itemsWithin } from '../watched-tables.ts';
import type { Evidence } from './evidence.ts';
import type { Judgement, Violate } from './violation.ts';

/** Checks each response against the tables during the request. Changes must be stored, and rejections must have a reason. */
export function judgeRequests(
  { answered, people, watched, faultClass }: World,
  evidence: () => Evidence,
  violate: Violate,
): Judgement {
  return { judgeEnd };

  function judgeEnd(): void {
    for (const failure of people.failures()) violate(`a simulated user failed: ${failure}`);
    for (const one of answered()) {
      const broken = isKnown(one) ? judge(one) : judgeFailure(one);
      if (broken !== undefined)
        violate(`${one.method} ${one.path} of ${one.account}: ${one.status} ${codeOf(one)}, ${broken}`);
    }
    judgeLimit(deliveryRoutes.Test.path, requestLimits.testLimit);
    judgeLimit(deliveryRoutes.Resend.path, requestLimits.resendLimit);
  }

  /** Returns a description of the violation, or undefined if the response is correct. */
  function judge(one: Answered): string | undefined {
    const { status, account } = one;
    if (status === 401)
      return people.isShutOut(account, one.sentAt, one.answeredAt) ? undefined : 'although the account has a token';
    if (status === 404 && codeOf(one) === 'webhook_not_found') return judgeNotFound(one);
    if (isOf(one, deliveryRoutes.Replay.path)) return judgeReplay(one);
    if (status === 409 && codeOf(one) === 'suspended_by_operator') {
      return during(one).some(webhook => webhook?.suspensionReason === 'operator')
        ? undefined
        : 'although no operator suspended it';
    }
    if (status === 409 && codeOf(one) === 'webhook_suspended') {
      return during(one).some(webhook => webhook?.status === 'suspended') ? undefined : 'although it was active';
    }
    if (status >= 400) return codeOf(one) === 'webhook_exists' ? judgeExisting(one) : judgeOtherRefusal(one);
    if (isOf(one, webhookRoutes.Webhooks.path) && one.method === 'POST') return judgeRegistered(one);
    if (isOf(one, webhookRoutes.Webhook.path)) return judgeWebhook(one);
    if (isOf(one, webhookRoutes.Secret.path)) return judgeRotated(one);
    if (isOf(one, webhookRoutes.Reactivation.path)) {
      return during(one).some(webhook => webhook?.status === 'active') ? undefined : 'but it was never active';
    }
    if (isOf(one, deliveryRoutes.Test.path)) return judgeTest(one);
    if (isOf(one, deliveryRoutes.Resend.path)) return judgeResent(one);
    return undefined;
  }

  /** Checks a 5xx response. A fault of a service may cause a 503. */
  function judgeFailure(one: Answered): string | undefined {
    if (one.status === 500) return 'an internal error';
    return faultClass === 'calm' ? 'without faults' : undefined;
  }

  /** Checks a 404. Only another request may have deleted the webhook, because a retried call must recognise its own effect. */
  function judgeNotFound(one: Answered): string | undefined {
    const found = during(one);
    const isOwnDeletion = one.method === 'DELETE' && isOf(one, webhookRoutes.Webhook.path) && found[0] !== undefined;
    if (isOwnDeletion && !people.wasDeleted(one.account, one.sentAt))
      return 'although it existed when the request arrived';
    return found.some(webhook => webhook === undefined) ? undefined : 'although it existed';
  }

  /** Checks a conflict. A repeated request may find the webhook that its first attempt created. */
  function judgeExisting(one: Answered): string | undefined {
    const isRepeated = answered().some(
      earlier => !isKnown(earlier) && earlier.answeredAt <= one.sentAt && earlier.body?.url === one.body?.url,
    );
    const others = during(one).filter(webhook => webhook && (isRepeated || webhook.url !== one.body?.url));
    return others.length > 0 ? undefined : 'although no other webhook existed';
  }

  /** Checks the other 4xx responses, by the delivery in their path or only by their code. */
  function judgeOtherRefusal(one: Answered): string | undefined {
    const code = codeOf(one);
    const [, id = ''] = /\/entregas\/([^/]+)/.exec(one.path) ?? [];
    const delivery = evidence().deliveries.get(id);
    if (code === 'delivery_not_found') {
      const isThere = delivery?.findLast(({ at }) => at <= one.sentAt)?.delivery;
      return isThere?.accountId === one.account ? 'although it exists' : undefined;
    }
    if (code === 'webhook_replaced') {
      const own = delivery?.find(change => change.delivery)?.delivery?.webhookId;
      return during(one).some(webhook => webhook?.webhookId !== own)
        ? undefined
        : 'although it belongs to the current webhook';
    }
    const known = ['rate_limited', 'replay_in_progress', 'too_many_secrets', 'test_delivery'];
    return known.includes(code) ? undefined : 'an unexpected code';
  }

  function judgeRegistered(one: Answered): string | undefined {
    const stored = during(one).find(webhook => webhook?.url === one.body?.url);
    if (!stored) return 'but it was not stored';
    const [secret] = stored.secrets;
    if (people.open(secret?.encrypted) !== one.answer.segredo) return 'but another secret was stored';
    return credentialOf(stored) === one.body?.autorizacao ? undefined : 'but another credential was stored';
  }

  function judgeWebhook(one: Answered): string | undefined {
    const found = during(one);
    if (one.method === 'DELETE') return found.some(webhook => !webhook) ? undefined : 'but it still exists';
    const expected = one.method === 'PUT' ? one.body?.url : one.answer.url;
    const stored = found.filter(webhook => webhook?.url === expected);
    if (stored.length === 0) return 'but this state was never stored';
    const former = one.answer.segredos_anteriores; // worlds end before a secret expires
    if (!Array.isArray(former) || !stored.some(webhook => webhook?.secrets.length === former.length + 1))
      return 'but the stored secrets differ';
    if (one.method !== 'PUT') return undefined;
    const isStored = stored.some(webhook => webhook && credentialOf(webhook) === one.body?.autorizacao);
    return isStored ? undefined : 'but another credential was stored';
  }

  function judgeRotated(one: Answered): string | undefined {
    const found = during(one).map(webhook => webhook?.secrets ?? []);
    const rotated = found.find(([secret]) => people.open(secret?.encrypted) === one.answer.segredo);
    if (!rotated) return 'but the secret was never stored';
    if (one.body?.imediato === true) return rotated.length === 1 ? undefined : 'but earlier secrets remain';
    return rotated.length > 1 ? undefined : 'but the earlier secret is missing';
  }

  /** Checks that an accepted test is stored. */
  function judgeTest({ account, sentAt, answeredAt, answer }: Answered): string | undefined {
    const changes = evidence().deliveries.get(String(answer.id)) ?? [];
    if (!changes.some(({ at, delivery }) => delivery && at <= answeredAt)) return 'but it is not stored';
    const ended = changes.at(-1)?.delivery?.state;
    return ended === undefined && !people.wasDeleted(account, sentAt) ? 'but it was deleted' : undefined;
  }

  /** Checks that an accepted resend causes an attempt or the end of the delivery, and that the webhook was active. */
  function judgeResent(one: Answered): string | undefined {
    const { account, sentAt, answer } = one;
    if (!during(one).some(webhook => webhook?.status === 'active')) return 'but it was never active';
    const changes = evidence().deliveries.get(String(answer.id)) ?? [];
    const isDone = changes.some(({ at, delivery }, index) => {
      const before = changes[index - 1]?.delivery;
      if (at < sentAt || !delivery || !before) return false;
      return delivery.attempt > before.attempt || (before.state === 'pending' && delivery.state !== 'pending');
    });
    return isDone || people.wasDeleted(account, sentAt) ? undefined : 'but no attempt followed';
  }

  /** Checks a response with a replay. The API must return a replay until its item expires, even after a later replay. */
  function judgeReplay({ path, account, sentAt, answeredAt, status }: Answered): string | undefined {
    const id = path.split('/').at(-1);
    const isShown = (item: Item | undefined) => item?.replayId === id && !(Number(item?.ttl) * 1_000 <= answeredAt);
    const [latest = [], past = []] = [headPart, `past#${id}`].map(part => {
      const changes = watched.changesOf('Deliveries').get(`${replaysId({ accountId: account, eventName })} ${part}`);
      return itemsWithin(changes ?? [], sentAt, answeredAt);
    });
    if (status === 404) return [latest, past].some(items => items.every(isShown)) ? 'although it exists' : undefined;
    return [...latest, ...past].some(isShown) ? undefined : 'although it does not exist';
  }

  /** Checks the limit of requests per minute. Without faults, no request below the limit is rejected. A retried write counts twice. */
  function judgeLimit(path: string, limit: number): void {
    const attempts = answered().filter(one => isOf(one, path) && one.method === 'POST');
    for (const one of attempts) {
      const recent = attempts.filter(
        ({ account, answeredAt }) =>
          account === one.account && answeredAt > one.sentAt - minute && answeredAt <= one.answeredAt,
      );
      const counted = recent.filter(({ status }) => status === 202 || status >= 500);
      if (one.status === 429 && counted.length < limit && faultClass === 'calm')
        violate(`${path} of ${one.account}: rejected below the limit`);
      const accepted = recent.filter(({ status }) => status === 202).length;
      if (accepted > 2 * limit) violate(`${path} of ${one.account}: accepted more requests than the limit`);
    }
  }

  function during({ account, sentAt, answeredAt }: Answered): readonly (Webhook | undefined)[] {
    return evidence().webhooksWithin({ accountId: account, eventName }, sentAt, answeredAt);
  }

  function credentialOf({ encryptedAuthorization }: Webhook): string | undefined {
    return encryptedAuthorization === undefined ? undefined : people.open(encryptedAuthorization);
  }
}

function isOf({ path }: Answered, pattern: string): boolean {
  return matchPath(pattern, path.split('?', 1)[0] ?? '') !== undefined;
}

function codeOf({ answer }: Answered): string {
  return String(answer.code ?? '');
}
