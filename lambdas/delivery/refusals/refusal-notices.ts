import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import { noticesPerMinute, pauseBetweenCounts, refusalWindow } from '../limits.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import type { RefusalCounts, RefusedGroup } from './refusal-counts.ts';
import { principalOf, type RefusalNotice } from './refusal-notice.ts';
import type { PublishNotice } from './refused-events-topic.ts';

/** Tells publishers of refused events, at best effort. */
export type RefusalNotices = ReturnType<typeof makeRefusalNotices>;

/**
 * Makes the notices of one process, at best effort: no message waits for them, and none fails for them.
 *
 * Refused events of a group that come while a count is being stored are counted together by the next one. Once a group has had its
 * notices of the minute, its count is stored once a second, and at the end of each invocation: what is told later must not depend on
 * this process, which may never run again. A count that cannot be stored is kept for the next try.
 */
export function makeRefusalNotices(
  dependencies: {
    readonly counts: Pick<RefusalCounts, 'add' | 'addBeyond'>;
    readonly publish: PublishNotice;
    readonly now: Clock;
  } & DeliveryTelemetry,
) {
  const { counts, publish, now, log, count } = dependencies;
  const groups = new Map<string, Group>();
  const underWay = new Set<Promise<void>>();

  return { add, settled };

  /** Takes a refused event. Returns at once. */
  function add(notice: RefusalNotice): void {
    const { reason } = notice;
    const principal = principalOf(notice.sender);
    const key = `${reason}#${principal}`;
    const group = groups.get(key) ?? newGroup(principal, reason);
    groups.set(key, group);
    group.refused += 1;
    if (group.notices.length < noticesPerMinute) group.notices.push(notice);
    if (!group.isStoring && now() >= group.storeAt) begin(store(group));
  }

  /** Resolves when everything taken was told or counted, or has failed. Until then an invocation must not end. */
  async function settled(): Promise<void> {
    while (underWay.size > 0) await Promise.all(underWay);
    for (const [key, group] of groups) {
      if (group.refused > 0 && now() >= group.tryAgainAt) begin(store(group));
      else if (group.refused === 0 && now() >= group.beyondUntil) groups.delete(key);
    }
    while (underWay.size > 0) await Promise.all(underWay);
  }

  function begin(work: Promise<void>): void {
    const done = work.finally(() => underWay.delete(done));
    underWay.add(done);
  }

  /** Counts until nothing is left to count, or what is left has time. */
  async function store(group: Group): Promise<void> {
    group.isStoring = true;
    do {
      const { refused, notices } = group;
      Object.assign(group, { refused: 0, notices: [] });
      await countAndTell(group, refused, notices);
    } while (group.refused > 0 && now() >= group.storeAt);
    group.isStoring = false;
  }

  async function countAndTell(group: Group, refused: number, notices: readonly RefusalNotice[]): Promise<void> {
    const { principal, reason } = group;
    try {
      if (now() < group.beyondUntil) {
        await counts.addBeyond({ principal, reason }, group.beyondUntil - refusalWindow, refused);
        group.storeAt = now() + pauseBetweenCounts;
      } else {
        const endsAt = (Math.floor(now() / refusalWindow) + 1) * refusalWindow;
        const before = await counts.add({ principal, reason }, refused);
        const told = notices.slice(0, Math.max(0, noticesPerMinute - before));
        for (const notice of told) begin(tell(notice)); // the next count does not wait for the topic
        if (before + refused >= noticesPerMinute) {
          Object.assign(group, { beyondUntil: endsAt, storeAt: now() + pauseBetweenCounts });
        }
      }
      group.notCounted = 0;
    } catch (error) {
      count('RefusalNotTold', refused - group.notCounted);
      log.error('refusal.not_counted', { sender: principal, reason, refused, ...describeError(error) });
      const tryAgainAt = now() + pauseBetweenCounts;
      Object.assign(group, {
        refused: group.refused + refused,
        notices: [...notices, ...group.notices].slice(0, noticesPerMinute),
        notCounted: refused,
        storeAt: tryAgainAt,
        tryAgainAt,
      });
    }
  }

  async function tell(notice: RefusalNotice): Promise<void> {
    try {
      await publish(notice);
    } catch (error) {
      count('RefusalNotTold');
      const { messageId, sender, reason } = notice;
      log.error('refusal.not_told', { messageId, sender, reason, ...describeError(error) });
    }
  }
}

/** The refused events of a principal and reason that are not counted yet: how many, and the first of them. */
interface Group extends RefusedGroup {
  refused: number;
  notices: RefusalNotice[];
  isStoring: boolean;
  /** While messages are at work no count is stored before. All times in milliseconds since the epoch. */
  storeAt: number;
  /** The end of the minute in which it has had its notices. */
  beyondUntil: number;
  /** After a count that could not be stored: no try before. */
  tryAgainAt: number;
  /** Of `refused`, how many a try could not store, and were told of in metric and log. */
  notCounted: number;
}

function newGroup(principal: string, reason: RefusedGroup['reason']): Group {
  const times = { storeAt: 0, beyondUntil: 0, tryAgainAt: 0 };
  return { principal, reason, refused: 0, notices: [], isStoring: false, ...times, notCounted: 0 };
}
