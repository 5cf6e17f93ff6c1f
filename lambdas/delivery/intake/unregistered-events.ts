import { isReservedAccount } from '../../auth/principals/account.ts';
import { batchGet } from '../../platform/aws/batch-get.ts';
import type { StoreParts } from '../../platform/aws/dynamo.ts';
import { attribute, expression, updateItem } from '../../platform/aws/update-item.ts';
import { setBounded } from '../../platform/set-bounded.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import { type After, withTimeout } from '../../platform/timer.ts';
import { EVENT_NAMES, type EventName } from '../../webhooks/webhook.ts';
import type { ReadUnregisteredEvents } from '../../webhooks/webhook-handlers.ts';
import { headKey } from '../store/head-key.ts';

export type UnregisteredEvents = ReturnType<typeof makeUnregisteredEvents>;

/**
 * Creates the store of events without a webhook. Item `without-webhook#<accountId>` in table `Deliveries` contains the latest time of each
 * such event, in milliseconds since the epoch. A process writes at most once an hour per account and event. Messages do not wait for the
 * write.
 */
export function makeUnregisteredEvents({
  dynamo,
  table,
  now,
  after,
  log,
}: StoreParts & { readonly after: After; readonly log: Log }) {
  /** The earliest acceptance time that this process writes next, by account and event. */
  const notBefore = new Map<string, number>();
  const writes = new Set<Promise<void>>();
  return { record, settled };

  /** Starts recording an event that was accepted at `acceptedAt`. */
  function record(accountId: string, eventName: EventName, acceptedAt: number): void {
    const key = `${accountId}#${eventName}`;
    if (isReservedAccount(accountId) || acceptedAt < (notBefore.get(key) ?? 0)) return;
    setBounded(notBefore, key, acceptedAt + interval, maxKeys);
    const done = store(accountId, eventName, acceptedAt)
      .catch(error => {
        setBounded(notBefore, key, acceptedAt + pauseAfterFailure, maxKeys);
        log.warn('event.not_noted', { account: accountId, event: eventName, ...describeError(error) });
      })
      .finally(() => writes.delete(done));
    writes.add(done);
  }

  /** Resolves when all writes have ended, or after a short wait, because an unresponsive table must not delay acknowledgements. */
  async function settled(): Promise<void> {
    if (writes.size > 0) await withTimeout(after, Promise.all(writes), maxWait);
  }

  async function store(accountId: string, eventName: EventName, acceptedAt: number): Promise<void> {
    const latest = attribute(eventName);
    await updateItem(dynamo, headKey(table, unregisteredEventsId(accountId)), {
      set: { [eventName]: acceptedAt, ttl: Math.ceil((now() + listingPeriod) / 1_000) },
      when: expression`attribute_not_exists(${latest}) OR ${latest} < ${acceptedAt}`,
    });
  }
}

export function makeReadUnregisteredEvents({ dynamo, table, now }: StoreParts): ReadUnregisteredEvents {
  return async function readUnregisteredEvents(accountId) {
    const [item = {}] = await batchGet(dynamo, [headKey(table, unregisteredEventsId(accountId))]);
    const oldest = now() - listingPeriod;
    const latest = EVENT_NAMES.toSorted().map(eventName => [eventName, Number(item[eventName] ?? 0)] as const);
    return new Map(latest.filter(([, moment]) => moment > oldest));
  };
}

/** Returns the id of the item in table `Deliveries` that contains an account's events without a webhook. */
export function unregisteredEventsId(accountId: string): string {
  return `without-webhook#${accountId}`;
}

/** The time in milliseconds for which an event without a webhook is listed after its latest occurrence. */
const listingPeriod = 30 * 24 * 60 * 60_000;

/** The minimum time between two writes for an account and event, in milliseconds. */
const interval = 60 * 60_000;

/** The pause after a failed write, in milliseconds. */
const pauseAfterFailure = 60_000;

/** The maximum time that an invocation waits for writes before it ends, in milliseconds. */
const maxWait = 200;

/** The maximum number of entries by account and event. The oldest entry is removed first. */
const maxKeys = 10_000;
