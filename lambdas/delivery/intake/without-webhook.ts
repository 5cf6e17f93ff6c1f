import { isReservedAccount } from '../../auth/principals/account.ts';
import { batchGet } from '../../platform/aws/batch-get.ts';
import type { StoreParts } from '../../platform/aws/dynamo.ts';
import { attribute, expression, updateItem } from '../../platform/aws/update-item.ts';
import { remember } from '../../platform/remember.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import { type After, withTimeout } from '../../platform/timer.ts';
import { EVENT_NAMES, type EventName } from '../../webhooks/webhook.ts';
import type { ReadWithoutWebhook } from '../../webhooks/webhook-handlers.ts';
import { headKey } from '../store/head-key.ts';

export type WithoutWebhook = ReturnType<typeof makeWithoutWebhook>;

/**
 * Creates the store of events without a webhook. Item `without-webhook#<accountId>` of table `Deliveries` contains the latest time of each
 * such event, in milliseconds since the epoch. A process writes once an hour per account and event. Messages do not wait for the write.
 */
export function makeWithoutWebhook({
  dynamo,
  table,
  now,
  after,
  log,
}: StoreParts & { readonly after: After; readonly log: Log }) {
  /** The earliest acceptance time that this process writes next, by account and event. */
  const notBefore = new Map<string, number>();
  const inProgress = new Set<Promise<void>>();
  return { note, settled };

  /** Starts to record an event that was accepted at `acceptedAt`. */
  function note(accountId: string, eventName: EventName, acceptedAt: number): void {
    const key = `${accountId}#${eventName}`;
    if (isReservedAccount(accountId) || acceptedAt < (notBefore.get(key) ?? 0)) return;
    remember(notBefore, key, acceptedAt + interval, maxKeys);
    const done = store(accountId, eventName, acceptedAt)
      .catch(error => {
        remember(notBefore, key, acceptedAt + pauseAfterFailure, maxKeys);
        log.warn('event.not_noted', { account: accountId, event: eventName, ...describeError(error) });
      })
      .finally(() => inProgress.delete(done));
    inProgress.add(done);
  }

  /** Resolves when all writes have ended, or after a short wait, because an unresponsive table must not delay acknowledgements. */
  async function settled(): Promise<void> {
    if (inProgress.size > 0) await withTimeout(after, Promise.all(inProgress), patience);
  }

  async function store(accountId: string, eventName: EventName, acceptedAt: number): Promise<void> {
    const latest = attribute(eventName);
    await updateItem(dynamo, headKey(table, withoutWebhookId(accountId)), {
      set: { [eventName]: acceptedAt, ttl: Math.ceil((now() + listedFor) / 1_000) },
      when: expression`attribute_not_exists(${latest}) OR ${latest} < ${acceptedAt}`,
    });
  }
}

export function makeReadWithoutWebhook({ dynamo, table, now }: StoreParts): ReadWithoutWebhook {
  return async function readWithoutWebhook(accountId) {
    const [item = {}] = await batchGet(dynamo, [headKey(table, withoutWebhookId(accountId))]);
    const oldest = now() - listedFor;
    const latest = EVENT_NAMES.toSorted().map(eventName => [eventName, Number(item[eventName] ?? 0)] as const);
    return new Map(latest.filter(([, moment]) => moment > oldest));
  };
}

/** Returns the id of the item in table `Deliveries` that contains an account's events without a webhook. */
export function withoutWebhookId(accountId: string): string {
  return `without-webhook#${accountId}`;
}

/** The time in milliseconds for which an event without a webhook is listed after its latest occurrence. */
const listedFor = 30 * 24 * 60 * 60_000;

/** The minimum time between two writes for an account and event, in milliseconds. */
const interval = 60 * 60_000;

/** The pause after a failed write, in milliseconds. */
const pauseAfterFailure = 60_000;

/** The time for which an invocation waits for writes before it ends, in milliseconds. */
const patience = 200;

/** The maximum number of entries by account and event. The oldest entry is removed first. */
const maxKeys = 10_000;
