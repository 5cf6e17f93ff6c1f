import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import { noticesPerMinute, pauseBetweenCounts, refusalWindow } from '../limits.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import type { ClaimedNotices, RefusalCounts, RefusedMinute } from './refusal-counts.ts';
import { principalOf, type RefusalNotice } from './refusal-notice.ts';
import type { PublishNotice } from './refused-events-topic.ts';

export type RefusalNotices = ReturnType<typeof makeRefusalNotices>;

/**
 * Makes the notices of one process, at best effort: no message waits for them, and none fails for them.
 *
 * Ten notices of a minute are shared by all processes: each claims its own in the table. What it claims none for it keeps back, and
 * stores how many: once a second, and at the end of each invocation, since the process may never run again. Where nothing can be
 * claimed by then, it sends up to ten notices of the minute by what it knows itself.
 */
export function makeRefusalNotices(
  dependencies: {
    readonly counts: RefusalCounts;
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
    const beganAt = Math.floor(now() / refusalWindow) * refusalWindow;
    const key = `${beganAt}#${reason}#${principal}`;
    const group = groups.get(key) ?? newGroup({ principal, reason, beganAt }, counts.noneClaimed());
    groups.set(key, group);
    group.refused += 1;
    if (group.notices.length < noticesPerMinute) group.notices.push(notice);
    if (!group.isStoring && now() >= group.storeAt) begin(store(group));
  }

  /** Resolves when everything taken was told or counted, or has failed. Until then an invocation must not end. */
  async function settled(): Promise<void> {
    await allDone();
    for (const group of groups.values()) {
      if (unstoredOf(group) > 0 && now() >= group.tryAgainAt) begin(store(group));
    }
    await allDone();
    for (const [key, group] of groups) {
      if (unstoredOf(group) > 0) decideAlone(group);
      else if (now() >= group.beganAt + refusalWindow) groups.delete(key);
    }
    await allDone();
  }

  async function allDone(): Promise<void> {
    while (underWay.size > 0) await Promise.all(underWay);
  }

  function begin(work: Promise<void>): void {
    const done = work.finally(() => underWay.delete(done));
    underWay.add(done);
  }

  /** Claims and counts until nothing is left, or what is left has time. */
  async function store(group: Group): Promise<void> {
    group.isStoring = true;
    try {
      do {
        await claimNotices(group);
        await storeKeptBack(group);
      } while (group.refused > 0 && now() >= group.storeAt);
    } catch (error) {
      const { principal: sender, reason } = group;
      log.error('refusal.not_counted', { sender, reason, refused: unstoredOf(group), ...describeError(error) });
      group.tryAgainAt = now() + pauseBetweenCounts;
      group.storeAt = group.tryAgainAt;
    }
    group.isStoring = false;
  }

  /** Decides who of those taken are told one by one. More may come meanwhile. */
  async function claimNotices(group: Group): Promise<void> {
    const { refused, claimed } = group;
    const taken = [...group.notices];
    const wanted = Math.min(taken.length, noticesPerMinute - claimed.own);
    if (wanted > 0) group.claimed = await counts.claim(group, claimed, wanted);
    decide(group, refused, taken, group.claimed.own - claimed.own);
  }

  async function storeKeptBack(group: Group): Promise<void> {
    const { keptBack, isTask } = group;
    if (keptBack === group.stored) return;
    group.storeAt = now() + pauseBetweenCounts;
    await counts.keepBack(group, keptBack, isTask);
    Object.assign(group, { stored: keptBack, reported: 0, isTask: true });
  }

  /** Decides by what this process knows, where the table did not say how many others have told. */
  function decideAlone(group: Group): void {
    const { refused, notices, claimed } = group;
    const told = Math.min(notices.length, noticesPerMinute - claimed.own);
    group.claimed = { ...claimed, own: claimed.own + told };
    decide(group, refused, notices, told);
    const left = unstoredOf(group);
    if (left > group.reported) count('RefusalNotTold', left - group.reported);
    group.reported = left;
  }

  /** Sends notices of the first, so many as are told, and keeps the others back. */
  function decide(group: Group, refused: number, taken: readonly RefusalNotice[], told: number): void {
    group.refused -= refused;
    group.notices = group.notices.slice(taken.length);
    group.keptBack += refused - told;
    for (const notice of taken.slice(0, told)) begin(tell(notice)); // the next count does not wait for the topic
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

/** What one process knows of the refused events of a minute. */
interface Group extends RefusedMinute {
  /** Those of which it is not decided yet whether they are told one by one: how many, and the first of them. */
  refused: number;
  notices: RefusalNotice[];
  claimed: ClaimedNotices;
  /** Those that are not told one by one; how many of them are stored, and how many of the others were reported as not told. */
  keptBack: number;
  stored: number;
  reported: number;
  isStoring: boolean;
  /** Whether this process has made the minute a task of the sweeper. */
  isTask: boolean;
  /** While messages are at work nothing is stored before. All times in milliseconds since the epoch. */
  storeAt: number;
  /** After a write that failed: no try before. */
  tryAgainAt: number;
}

function newGroup(minute: RefusedMinute, claimed: ClaimedNotices): Group {
  const counts = { refused: 0, keptBack: 0, stored: 0, reported: 0 };
  return { ...minute, ...counts, claimed, notices: [], isStoring: false, isTask: false, storeAt: 0, tryAgainAt: 0 };
}

function unstoredOf({ refused, keptBack, stored }: Group): number {
  return refused + keptBack - stored;
}
