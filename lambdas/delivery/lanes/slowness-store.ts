import { batchGet } from '../../platform/aws/batch-get.ts';
import type { Item, StoreParts } from '../../platform/aws/dynamo.ts';
import { expression, updateItem } from '../../platform/aws/update-item.ts';
import { headKey } from '../store/head-key.ts';
import { type SlownessOwner, slownessId } from './slow-since.ts';
import type { Slowness } from './slowness.ts';

/*
 * Item `slowness#<accountId>#<eventName>` in table `Deliveries` contains the slowness of an event's receiver. Neither a PUT nor a new
 * registration shortens the slowness. A change is written only if `version` has not changed since the read.
 */

interface StoredSlowness extends Slowness {
  readonly version: number;
}

export type SlownessStore = ReturnType<typeof makeSlownessStore>;

/** Returns the slowness in an item. Without an item, the webhook is not slow. */
export function slownessOf(item: Item | undefined): StoredSlowness {
  const { tallies = [], version = 0, slowSince, reachedAt, hold, endedAt } = item ?? {};
  return { tallies, version, slowSince, reachedAt, hold, endedAt } as StoredSlowness;
}

/** Creates the store of slowness items. All reads are strongly consistent. */
export function makeSlownessStore({ dynamo, table, now }: StoreParts) {
  return { change };

  /**
   * Changes the slowness with a pure function, which returns `undefined` for no change. If another process changed the item first, the store
   * tries again with the new value. Returns the stored value. After six failed tries, it does not include the change.
   */
  async function change(
    owner: SlownessOwner,
    apply: (slowness: Slowness) => Slowness | undefined,
  ): Promise<StoredSlowness> {
    const key = headKey(table, slownessId(owner));
    let slowness = await read();
    for (let tries = 1; ; tries++) {
      const changed = apply(slowness);
      if (!changed) return slowness;
      const stored = { ...changed, version: slowness.version + 1 };
      const when = expression`attribute_not_exists(version) OR version = ${slowness.version}`;
      const set = { ...stored, accountId: owner.accountId, eventName: owner.eventName, ttl: expiryAt(now()) };
      if (await updateItem(dynamo, key, { set, when })) return stored;
      slowness = await read();
      if (tries === maxTries) return slowness; // a later attempt records the change
    }

    async function read(): Promise<StoredSlowness> {
      return slownessOf((await batchGet(dynamo, [key]))[0]);
    }
  }
}

/** The maximum number of tries for a change while other processes change the item. */
const maxTries = 6;

/** Returns the expiry of an item in seconds since the epoch. It is 40 days after the last write, long after the last delivery has ended. */
function expiryAt(moment: number): number {
  return Math.ceil(moment / 1_000) + 40 * 24 * 60 * 60;
}
