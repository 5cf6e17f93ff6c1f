import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import { noticesPerMinute, pauseBetweenCounts } from '../limits.ts';
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
 * notices of the minute, its count is stored once a second at most, by the invocation that comes then: all processes write to one
 * item, and a flood must not take that partition's writes from deliveries.
 */
export function makeRefusalNotices(
  dependencies: {
    readonly counts: Pick<RefusalCounts, 'add'>;
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
    const group = groups.get(key) ?? { principal, reason, refused: 0, notices: [], isStoring: false, storeAt: 0 };
    groups.set(key, group);
    group.refused += 1;
    if (group.notices.length < noticesPerMinute) group.notices.push(notice);
    if (isDue(group)) begin(store(group));
  }

  /** Resolves when everything taken was told or counted, or has failed. Until then an invocation must not end. */
  async function settled(): Promise<void> {
    for (const [key, group] of groups) {
      if (!isDue(group)) continue;
      if (group.refused > 0) begin(store(group));
      else groups.delete(key);
    }
    while (underWay.size > 0) await Promise.all(underWay);
  }

  function isDue({ isStoring, storeAt }: Group): boolean {
    return !isStoring && now() >= storeAt;
  }

  function begin(work: Promise<void>): void {
    const done = work.finally(() => underWay.delete(done));
    underWay.add(done);
  }

  /** Counts until nothing is left to count, or what is left has time. */
  async function store(group: Group): Promise<void> {
    while (group.refused > 0 && isDue(group)) {
      group.isStoring = true;
      const { refused, notices } = group;
      Object.assign(group, { refused: 0, notices: [] });
      const before = await countAndTell(group, refused, notices);
      if (before === undefined || before + refused >= noticesPerMinute) group.storeAt = now() + pauseBetweenCounts;
      group.isStoring = false;
    }
  }

  /** Returns how many were counted before; `undefined` where these could not be counted. */
  async function countAndTell(group: Group, refused: number, notices: readonly RefusalNotice[]) {
    const { principal, reason } = group;
    try {
      const before = await counts.add({ principal, reason }, refused);
      const told = notices.slice(0, Math.max(0, noticesPerMinute - before));
      for (const notice of told) begin(tell(notice)); // the next count does not wait for the topic
      return before;
    } catch (error) {
      count('RefusalNotTold', refused);
      log.error('refusal.not_counted', { sender: principal, reason, refused, ...describeError(error) });
      return undefined;
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
  /** No count is stored before: milliseconds since the epoch. */
  storeAt: number;
}
