import { batchGet } from '../../platform/aws/batch-get.ts';
import type { StoreParts } from '../../platform/aws/dynamo.ts';
import type { EventName } from '../../webhooks/webhook.ts';
import type { ReadSlowSince } from '../../webhooks/webhook-handlers.ts';
import { headKey } from '../store/head-key.ts';

/** The owner of a slowness item is an account's event, not a registration, so a new registration is as slow as the previous one. */
export interface SlownessOwner {
  readonly accountId: string;
  readonly eventName: EventName;
}

/** The id prefix for slowness items in table `Deliveries`. */
export const slownessPrefix = 'slowness';

/** Returns the id of an owner's slowness item in table `Deliveries`. */
export function slownessId({ accountId, eventName }: SlownessOwner): string {
  return `${slownessPrefix}#${accountId}#${eventName}`;
}

/** Creates a function that returns the times at which the attempts of these owners moved to the slow lane. */
export function makeSlowSinceReader({ dynamo, table }: Omit<StoreParts, 'now'>): ReadSlowSince {
  return async function readSlowSince(owners) {
    if (owners.length === 0) return [];
    const items = await batchGet(
      dynamo,
      owners.map(owner => headKey(table, slownessId(owner))),
    );
    return items.map(item => (typeof item?.slowSince === 'number' ? item.slowSince : undefined));
  };
}
