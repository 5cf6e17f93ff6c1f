import { KMSClient } from '@aws-sdk/client-kms';
import * as z from 'zod';
import { type Delivery, isDeliveryId } from '../../../lambdas/delivery/delivery.ts';
import { signatureHeader } from '../../../lambdas/delivery/worker/signature.ts';
import { makeKeyring } from '../../../lambdas/platform/keyring.ts';
import { makeUnsealing } from '../../../lambdas/platform/sealing.ts';
import { secretBinding, type Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { exampleValues, publishEvent } from '../../deliveries/publish.command.ts';
import { openDeliveries } from '../../stage/stores.ts';
import { requireOutput, type Task } from '../../stage/target.ts';
import { makeDemo } from './demo.ts';
import { eventName } from './event-name.ts';

/** A request that the built-in receiver got, as it shows it. */
export type ReceivedDelivery = Readonly<z.output<typeof receivedDelivery>>;

/** Makes the sandbox of a local run: what its receiver got, whether the signature is right, and samples to publish. */
export function makeSandbox(task: Task, receiverUrl: string) {
  const { target } = task;
  const demo = makeDemo(target);
  return { demo, list, clear, publish };

  /** Lists what came, the newest first, and how much there is. */
  async function list() {
    const response = await fetch(`${receiverUrl}/deliveries`, { signal: AbortSignal.timeout(5_000) });
    const received = z.array(receivedDelivery).parse(await response.json());
    const latest = received.toReversed().slice(0, mostShown);
    const judge = await makeJudge(latest);
    return {
      count: received.length,
      received: await Promise.all(latest.map(async request => ({ ...request, ...(await judge(request)) }))),
    };
  }

  async function clear(): Promise<void> {
    await fetch(`${receiverUrl}/deliveries`, { method: 'DELETE', signal: AbortSignal.timeout(5_000) });
  }

  async function publish(event: string): Promise<void> {
    const name = eventName(event);
    const id = `console-${target.makeId(16)}`;
    await publishEvent.act(task, { ...exampleValues, account: demo.account, event: name, id });
  }

  /** Makes the judge of signatures: by the secrets of each delivery's own webhook, as its receiver should. */
  async function makeJudge(requests: readonly ReceivedDelivery[]) {
    const { read, findWebhook } = openDeliveries(target);
    const ids = requests.map(({ headers }) => headers['webhook-id'] ?? '').filter(isDeliveryId);
    const deliveries = await read([...new Set(ids)]);
    const sealing = makeUnsealing(
      makeKeyring({
        ...target.time,
        dynamo: target.dynamo,
        table: requireOutput(target, 'KeyringTable'),
        kms: target.connect(KMSClient, 'KmsEndpoint'),
      }),
    );
    return async (request: ReceivedDelivery): Promise<Judged> => {
      const { 'webhook-id': id = null } = request.headers;
      const delivery = deliveries.find(one => one.id === id);
      const webhook = delivery && (await findWebhook(delivery.accountId, delivery.eventName));
      const verdict = await judgeSignature(request, delivery, webhook, sealing.open);
      return { id, account: delivery?.accountId ?? null, event: delivery?.eventName ?? null, verdict };
    };
  }
}

/** Judges a request by the delivery that it names, and by the webhook that this one's account and event have now. */
export async function judgeSignature(
  { headers, body }: ReceivedDelivery,
  delivery: Delivery | undefined,
  webhook: Webhook | undefined,
  open: (sealed: string, binding: string) => Promise<string>,
): Promise<Verdict> {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  if (!id || !timestamp || !signature) return 'unsigned';
  if (!delivery) return 'unknown';
  if (!webhook) return 'deleted';
  if (webhook.webhookId !== delivery.webhookId) return 'replaced';
  const binding = secretBinding(webhook.accountId, webhook.eventName);
  const secrets = await Promise.all(webhook.secrets.map(({ sealed }) => open(sealed, binding)));
  const right = signatureHeader({ id, timestamp: Number(timestamp), body }, secrets).split(' ');
  if (signature.split(' ').some(one => right.includes(one))) return 'verified';
  if (Buffer.byteLength(body) >= keptBytes) return 'cut';
  const isOlder = webhook.secrets.every(({ createdAt }) => createdAt >= (Number(timestamp) + 1) * 1_000);
  return isOlder ? 'rotated' : 'wrong';
}

/** What is found of a signature. All but the first and `wrong` say why it cannot be told. */
export type Verdict = 'verified' | 'wrong' | 'unsigned' | 'unknown' | 'deleted' | 'replaced' | 'rotated' | 'cut';

interface Judged {
  /** The delivery, with the account and the event where it is still known. */
  readonly id: string | null;
  readonly account: string | null;
  readonly event: string | null;
  readonly verdict: Verdict;
}

/** A request that the receiver got, with the verdict on its signature. */
export type ReceivedView = ReceivedDelivery & Judged;

/** The requests that are judged and shown. */
const mostShown = 50;

/** The bytes of a body that the receiver keeps. */
const keptBytes = 16 * 1_024;

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
