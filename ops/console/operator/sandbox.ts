import { KMSClient } from '@aws-sdk/client-kms';
import * as z from 'zod';
import { signatureHeader } from '../../../lambdas/delivery/worker/signature.ts';
import { makeKeyring } from '../../../lambdas/platform/keyring.ts';
import { makeUnsealing } from '../../../lambdas/platform/sealing.ts';
import { isEventName, secretBinding, type Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { exampleValues, publishEvent } from '../../deliveries/publish.command.ts';
import { openDeliveries } from '../../stage/stores.ts';
import { requireOutput, type Task } from '../../stage/target.ts';
import { eventName } from './event-name.ts';

/** A request that the built-in receiver got, as it shows it. */
export type ReceivedDelivery = Readonly<z.output<typeof receivedDelivery>>;

/** Makes the sandbox of a local run: what its receiver got, whether the signature is right, and samples to publish. */
export function makeSandbox(task: Task, receiverUrl: string) {
  const { target } = task;
  const account = target.outputs.AccountId ?? 'demo';
  return { account, list, clear, publish };

  async function list() {
    const response = await fetch(`${receiverUrl}/deliveries`, { signal: AbortSignal.timeout(5_000) });
    const received = z.array(receivedDelivery).parse(await response.json());
    const { findWebhook } = openDeliveries(target);
    return Promise.all(
      received
        .toReversed()
        .slice(0, 50)
        .map(async ({ at, method, path, status, headers, body }) => {
          const event = eventIn(body);
          const webhook = event && isEventName(event) ? await findWebhook(account, event) : undefined;
          const signature = await judge(headers, body, webhook);
          return { at, method, path, status, event, id: headers['webhook-id'] ?? null, signature, body };
        }),
    );
  }

  async function clear(): Promise<void> {
    await fetch(`${receiverUrl}/deliveries`, { method: 'DELETE', signal: AbortSignal.timeout(5_000) });
  }

  async function publish(event: string): Promise<void> {
    const name = eventName(event);
    const id = `console-${target.makeId(16)}`;
    await publishEvent.act(task, { ...exampleValues, account, event: name, id });
  }

  /** Judges a signature by the secrets of the webhook, as its receiver should. */
  async function judge(
    headers: ReceivedDelivery['headers'],
    body: string,
    webhook: Webhook | undefined,
  ): Promise<string> {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
    if (!id || !timestamp || !signature) return 'none: this is no delivery';
    if (!webhook) return 'cannot be verified: the account has no webhook for this event';
    const sealing = makeUnsealing(
      makeKeyring({
        ...target.time,
        dynamo: target.dynamo,
        table: requireOutput(target, 'KeyringTable'),
        kms: target.connect(KMSClient, 'KmsEndpoint'),
      }),
    );
    const binding = secretBinding(webhook.accountId, webhook.eventName);
    const secrets = await Promise.all(webhook.secrets.map(({ sealed }) => sealing.open(sealed, binding)));
    const right = signatureHeader({ id, timestamp: Number(timestamp), body }, secrets).split(' ');
    return signature.split(' ').some(one => right.includes(one))
      ? 'verified'
      : 'wrong: it was made with a secret that this webhook no longer has';
  }
}

/** A request that the receiver got, with the verdict on its signature. */
export type ReceivedView = Awaited<ReturnType<ReturnType<typeof makeSandbox>['list']>>[number];

const receivedDelivery = z.object({
  /** RFC 3339, UTC. */
  at: z.string(),
  method: z.string(),
  path: z.string(),
  /** Names in lower case; duplicates joined by a comma and a blank. */
  headers: z.record(z.string(), z.string()),
  /** At most the first 16 KiB. */
  body: z.string(),
  /** The status it was answered with. */
  status: z.number(),
});

function eventIn(body: string): string | null {
  try {
    const { event } = JSON.parse(body);
    return typeof event === 'string' ? event : null;
  } catch {
    return null;
  }
}
