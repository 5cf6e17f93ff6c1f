import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { slownessId } from '../../../lambdas/delivery/isolation/slow-since.ts';
import {
  nextSlots,
  recovered,
  slotInterval,
  withDuration,
  withSlowDns,
} from '../../../lambdas/delivery/isolation/slowness.ts';
import { makeSlownessStore } from '../../../lambdas/delivery/isolation/slowness-store.ts';
import type { Dynamo } from '../../../lambdas/platform/aws/dynamo.ts';
import type { Clock } from '../../../lambdas/platform/clock.ts';
import type { Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { aWebhook } from '../../unit/delivery/builders.ts';
import { environment } from './environment.ts';

/** Makes what a test does with the webhook of `conta-1` for `demanda.criada`, and with what is known of its receiver, past all processes. */
export function makeOwner(now: Clock, dynamo: Dynamo) {
  const slownessStore = makeSlownessStore({ dynamo, table: 'Deliveries', now, rate: environment.slowRate });
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
    slowness: () => slownessStore.read(slownessId(owner)),
    /** Has the receiver found slow. */
    slowDown: () => slownessStore.change(owner, slowness => withSlowDns(slowness, now())),
    /** Has it found quick again. */
    speedUp: () => slownessStore.change(owner, slowness => recovered(slowness, now())),
    /** Has it found to take so many milliseconds for an answer. */
    measureAnswer: (milliseconds: number) =>
      slownessStore.change(owner, slowness => withDuration(slowness, milliseconds, now())),
    takeSlots,
    /** Takes so many of the next slots, as other deliveries would. */
    reserveSlots: async (slots: number) =>
      slownessStore.reserve(await slownessStore.change(owner, () => undefined), slots),
  };

  /** Takes all slots of the next 90 s, as other deliveries would. */
  async function takeSlots(): Promise<void> {
    const slowness = await slownessStore.change(owner, known => known);
    const interval = slotInterval(slowness, environment.slowRate);
    const { after } = nextSlots(slowness, interval, now());
    await slownessStore.reserveUntil(slowness, { ...after, nextSlotAt: Math.max(after.nextSlotAt, now() + 90_000) });
  }
}

const owner = { accountId: 'conta-1', eventName: 'demanda.criada' } as const;
