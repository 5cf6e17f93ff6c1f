import type { FunctionDefinition, ProcessOutside } from '@emissor/virtual-cloud';
import { newDelivery, settled } from '../../../lambdas/delivery/delivery.ts';
import { makeAttemptQueue } from '../../../lambdas/delivery/queues.ts';
import { makeRunReplay, replayPage } from '../../../lambdas/delivery/replay/replay-runner.ts';
import { makeStartReplay } from '../../../lambdas/delivery/replay/replay-start.ts';
import { makeReplayStore } from '../../../lambdas/delivery/replay/replay-store.ts';
import { makeReadHistory } from '../../../lambdas/delivery/store/delivery-history.ts';
import { itemFromDelivery } from '../../../lambdas/delivery/store/delivery-item.ts';
import { makeDeliveryStore } from '../../../lambdas/delivery/store/delivery-store.ts';
import { makeFindWebhook } from '../../../lambdas/delivery/store/find-webhook.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { makeRandomIds } from '../../../lambdas/platform/identifiers.ts';
import { makeWebhookStore } from '../../../lambdas/webhooks/webhook-store.ts';
import { webhookIdOf } from '../set-up.ts';
import { deliveryEnvironment, type Stage } from '../stage.ts';
import { minute } from '../times.ts';
import type { Tenant } from './tenant.ts';
import { eventOf, hostOf, type TenantEvent } from './tenant-events.ts';

/** What the owners of webhooks do beside publishing: the function `owner` does it, by the product's own stores. */
export interface Deed {
  readonly does: 'put' | 'replay';
  readonly tenant: Pick<Tenant, 'account' | 'webhook' | 'event'>;
}

/** Returns the function `owner`, whose event is a `Deed`. */
export function ownerFunction({ outsideOf, telemetryOf }: Stage): FunctionDefinition<ProcessOutside> {
  return {
    name: 'owner',
    timeout: minute,
    start: process => {
      const { time, random, dynamo, sqs } = outsideOf(process);
      const table = deliveryEnvironment.DELIVERIES_TABLE;
      const stored = { ...time, dynamo, table, historyDays: deliveryEnvironment.HISTORY_DAYS };
      const store = makeDeliveryStore(stored);
      const replays = makeReplayStore(stored);
      const webhooks = makeWebhookStore({ dynamo, table: deliveryEnvironment.WEBHOOKS_TABLE });
      const shared = { ...telemetryOf('owner', process), ...time, store, replays };
      const run = makeRunReplay({
        ...shared,
        readHistory: makeReadHistory({ dynamo, table, store }),
        findWebhook: makeFindWebhook(dynamo, deliveryEnvironment.WEBHOOKS_TABLE),
        retryQueue: makeAttemptQueue({ ...time, sqs, queueUrl: deliveryEnvironment.RETRY_QUEUE_URL }),
        page: replayPage,
      });
      const startReplay = makeStartReplay({ ...shared, run, makeId: makeRandomIds(random) });

      return async function act({ does, tenant }: Deed): Promise<void> {
        const webhook = await webhooks.find(tenant.account, eventOf(tenant));
        if (!webhook) throw new Error(`${tenant.webhook} has no webhook.`);
        if (does === 'replay') {
          await startReplay(webhook, { from: 0, to: time.now(), wanted: 'failed' });
        } else {
          const url = `https://${hostOf(tenant)}/hooks/${time.now()}`;
          await webhooks.replace(webhook, { url, sealedAuthorization: undefined, updatedAt: time.now() });
        }
      };
    },
  };
}

/** Returns the stored form of an event whose delivery has failed before. */
export function failedDelivery({ tenant, number, publication }: TenantEvent, now: number): Item {
  const { deliveryId: id, account: accountId, body } = publication;
  const delivery = newDelivery({
    ...{ id, accountId, body, eventName: eventOf(tenant), webhookId: webhookIdOf(hostOf(tenant)) },
    createdAt: now - minute - number,
  });
  return itemFromDelivery(settled(delivery, 'failed', now - 1), deliveryEnvironment.HISTORY_DAYS);
}
