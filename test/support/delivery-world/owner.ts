import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { recovered, withSlowAttempts } from '../../../lambdas/delivery/lanes/slowness.ts';
import { makeSlownessStore } from '../../../lambdas/delivery/lanes/slowness-store.ts';
import type { Dynamo } from '../../../lambdas/platform/aws/dynamo.ts';
import type { Clock } from '../../../lambdas/platform/clock.ts';
import type { Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { aWebhook } from '../../unit/delivery/builders.ts';

/** Makes what a test does with the webhook of `conta-1` for `demanda.criada`, and with what is known of its receiver, past all processes. */
export function makeOwner(now: Clock, dynamo: Dynamo) {
  const slownessStore = makeSlownessStore({ dynamo, table: 'Deliveries', now });
  return {
    register: async (changes: Partial<Webhook> = {}) => {
      const Item = aWebhook({ createdAt: now(), updatedAt: now(), ...changes });
      await dynamo(new PutCommand({ TableName: 'Webhooks', Item }));
    },
    /** The webhook as it is stored. */
    webhook: async () => (await dynamo(new GetCommand({ TableName: 'Webhooks', Key: owner }))).Item,
    remove: async () => {
      await dynamo(new DeleteCommand({ TableName: 'Webhooks', Key: owner }));
    },
    /** Returns the slowness of the receiver, as it is stored. */
    slowness: () => slownessStore.change(owner, () => undefined),
    /** Has the receiver found slow. */
    slowDown: () => slownessStore.change(owner, slowness => withSlowAttempts(slowness, { slow: 2, quick: 0 }, now())),
    /** Has it found quick again. */
    speedUp: () => slownessStore.change(owner, slowness => recovered(slowness, now())),
  };
}

const owner = { accountId: 'conta-1', eventName: 'demanda.criada' } as const;
