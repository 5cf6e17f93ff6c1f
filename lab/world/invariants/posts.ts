import { signatureHeader } from '../../../lambdas/delivery/attempt/signature.ts';
import { clockTolerance } from '../../../lambdas/delivery/consumer/retry.ts';
import { isTest } from '../../../lambdas/delivery/delivery.ts';
import { failingForLong } from '../../../lambdas/delivery/lane-routing.ts';
import { deliveryFromItem } from '../../../lambdas/delivery/store/delivery-item.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { isSigning } from '../../../lambdas/webhooks/signing-secret.ts';
import { type Webhook, webhookIn } from '../../../lambdas/webhooks/webhook.ts';
import { sentAt } from '../arrival.ts';
import type { World } from '../make-world.ts';
import type { Post } from '../receivers.ts';
import { clockError, maxPreparation, second } from '../times.ts';
import type { Evidence } from './evidence.ts';
import type { Check, Violate } from './violation.ts';

/** Checks the permission, URL, time, lane and content of each POST against the reads of its process. */
export function checkPosts(
  { receivers, publications, people }: World,
  startedAt: number,
  evidence: () => Evidence,
  violate: Violate,
): Check {
  return { checkAtEnd };

  function checkAtEnd(): void {
    const { deliveries } = evidence();
    const owners = new Map(
      publications.map(({ deliveryId, account, event }) => [deliveryId, { accountId: account, eventName: event }]),
    );
    for (const post of receivers.all()) {
      const { deliveryId, read } = post;
      const stored = deliveries.get(deliveryId)?.find(({ delivery }) => delivery)?.delivery;
      const owner = stored ?? owners.get(deliveryId);
      const isOwn = ({ accountId, eventName }: Item) =>
        accountId === owner?.accountId && eventName === owner?.eventName;
      const webhook = webhookIn(read?.webhooks.find(isOwn));
      if (!read || post.at - read.at > maxPreparation) violate('POSTed after an outdated read', deliveryId);
      else if (!read.isConsistent) violate('POSTed after an eventually consistent read', deliveryId);
      else if (!webhook) violate('POSTed without a webhook', deliveryId);
      else {
        checkPost(post, webhook);
        checkLane(post, webhook, read.slownesses.find(isOwn));
      }
    }
  }

  function checkPost(post: Post, webhook: Webhook): void {
    const { deliveryId: id, host, path, read, at } = post;
    const head = read?.head && deliveryFromItem(read.head);
    if (`https://${host}${path}` !== webhook.url) violate('POSTed to the wrong URL', id);
    if (webhook.suspensionReason === 'operator') violate('POSTed although an operator suspended the webhook', id);
    else if (webhook.status === 'suspended' && !isTest({ id })) violate('POSTed although the webhook is suspended', id);
    if (head) {
      if (post.body !== head.body) violate('POSTed a body that differs from the stored body', id);
      if (head.webhookId !== webhook.webhookId) violate('POSTed to a later registration', id);
      if (head.state !== 'pending' || !head.wait) violate('POSTed after the end of the delivery', id);
      else if (at < head.wait.nextAttemptAt - clockTolerance - clockError) violate('POSTed before the due time', id);
    } else {
      const sentEvents = publications.filter(({ deliveryId }) => deliveryId === id);
      const isOwn = sentEvents.some(one => startedAt + sentAt(one) > webhook.createdAt - maxEarlyAcceptance);
      if (!isOwn) violate('POSTed to a later registration', id);
      if (!sentEvents.some(one => demandOf(one.body) === demandOf(post.body)))
        violate('POSTed a body that was never published', id);
    }
    checkContent(post, webhook);
  }

  /** Checks the lane. Only the `slow` lane may attempt tests and deliveries to slow webhooks. The `first` lane must skip failing webhooks. */
  function checkLane(post: Post, { failingSince }: Webhook, slowness: Item | undefined): void {
    const { deliveryId: id, functionName, at } = post;
    if (functionName === 'deliver-slow') return;
    const failingFor = at - (failingSince ?? at);
    if (slowness?.slowSince !== undefined) violate('POSTed in a quick lane, but its webhook is slow', id);
    if (isTest({ id })) violate('a test was attempted in a quick lane', id);
    const belongsInRetryLane = failingFor > failingForLong + maxPreparation;
    if (functionName === 'deliver-first' && belongsInRetryLane)
      violate('POSTed in the first lane, but its webhook keeps failing', id);
  }

  function checkContent({ deliveryId: id, headers, body, at }: Post, webhook: Webhook): void {
    const timestamp = Number(headers['webhook-timestamp']);
    const age = at - timestamp * second;
    if (!(age > -clockError && age < maxPreparation + second))
      violate('the timestamp is not the time of the attempt', id);
    const signing = webhook.secrets
      .filter(secret => isSigning(secret, at))
      .map(({ encrypted }) => people.decrypt(encrypted) ?? '');
    const signature = signatureHeader({ id, timestamp, body }, signing);
    if (signing.length === 0 || headers['webhook-signature'] !== signature)
      violate('signed with the wrong secrets', id);
    const { encryptedAuthorization } = webhook;
    const authorization = encryptedAuthorization === undefined ? undefined : people.decrypt(encryptedAuthorization);
    if (headers.Authorization !== authorization) violate('sent with the wrong Authorization header', id);
    if (headers['Content-Type'] !== 'application/json') violate('sent with the wrong Content-Type header', id);
  }
}

/** The maximum time from an accepted event to the registration of its webhook, in milliseconds. Clocks may differ. */
const maxEarlyAcceptance = 500 + clockError;

function demandOf(body: string): unknown {
  const { id_demanda }: { readonly id_demanda?: unknown } = JSON.parse(body);
  return id_demanda;
}
