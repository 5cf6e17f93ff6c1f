import { isReservedAccount } from '../../auth/principals/account.ts';
import type { Dynamo } from '../../platform/aws/dynamo.ts';
import { attribute, expression, updateItem } from '../../platform/aws/update-item.ts';
import type { Clock } from '../../platform/clock.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import { withTimeout } from '../../platform/timer.ts';
import type { EventName } from '../../webhooks/webhook.ts';
import { toldFor, withoutWebhookId } from '../../webhooks/without-webhook.ts';
import { headKey } from '../store/head-key.ts';

/** Keeps when an account's events last came without a webhook, at best effort. */
export type WithoutWebhook = ReturnType<typeof makeWithoutWebhook>;

/**
 * Makes the store of table `Deliveries`, item `without-webhook#<accountId>`: an attribute for each event, its latest time in
 * milliseconds since the epoch. A process writes once an hour for each account and event. No message waits for it.
 */
export function makeWithoutWebhook({
  dynamo,
  table,
  now,
  log,
}: {
  readonly dynamo: Dynamo;
  readonly table: string;
  readonly now: Clock;
  readonly log: Log;
}) {
  /** The moments before which this process writes no more, by account and event. */
  const notBefore = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  return { note, settled };

  /** Notes an event that was accepted at that moment. Returns at once. */
  function note(accountId: string, eventName: EventName, acceptedAt: number): void {
    const key = `${accountId}#${eventName}`;
    if (isReservedAccount(accountId) || acceptedAt < (notBefore.get(key) ?? 0)) return;
    remember(key, acceptedAt + interval);
    const done = store(accountId, eventName, acceptedAt)
      .catch(error => {
        remember(key, acceptedAt + pauseAfterFailure);
        log.warn('event.not_noted', { account: accountId, event: eventName, ...describeError(error) });
      })
      .finally(() => underWay.delete(done));
    underWay.add(done);
  }

  /** Resolves when all is written, or after a moment: an acknowledgement must not wait for a table that does not answer. */
  async function settled(): Promise<void> {
    if (underWay.size > 0) await withTimeout(Promise.all(underWay), patience);
  }

  async function store(accountId: string, eventName: EventName, acceptedAt: number): Promise<void> {
    const latest = attribute(eventName);
    await updateItem(dynamo, headKey(table, withoutWebhookId(accountId)), {
      set: { [eventName]: acceptedAt, ttl: Math.ceil((now() + toldFor) / 1_000) },
      when: expression`attribute_not_exists(${latest}) OR ${latest} < ${acceptedAt}`,
    });
  }

  function remember(key: string, moment: number): void {
    notBefore.delete(key);
    notBefore.set(key, moment);
    const oldest = notBefore.size > mostKeys ? notBefore.keys().next().value : undefined;
    if (oldest !== undefined) notBefore.delete(oldest);
  }
}

/** Between two writes for an account and event. Milliseconds. */
const interval = 60 * 60_000;

/** After a write that failed. Milliseconds. */
const pauseAfterFailure = 60_000;

/** The time that the end of an invocation waits for writes. Milliseconds. */
const patience = 200;

/** Accounts and events that a process remembers at most: the one that was noted first is forgotten first. */
const mostKeys = 10_000;
