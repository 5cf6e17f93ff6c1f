import { describeError } from '../../platform/telemetry.ts';
import { noticesPerMinute } from '../limits.ts';
import type { RefusalCounts, RefusedGroup } from '../refusal-counts.ts';
import { principalOf, type RefusalNotice } from '../refusal-notice.ts';
import type { PublishNotice } from '../refused-events-topic.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';

/** Tells publishers of refused events, at best effort: no message waits for it, and none fails for it. */
export interface RefusalNotices {
  /** Takes a refused event. Returns at once. */
  add(notice: RefusalNotice): void;
  /** Resolves when all that was taken is told or counted, or has failed. Until then an invocation must not end. */
  settled(): Promise<void>;
}

/**
 * Makes the notices of one process. Of a group, those that come while a count is being stored are counted together by the next
 * write: a publisher that sends thousands of faulty messages causes two writes for each batch of ten, and ten notices a minute.
 */
export function makeRefusalNotices(
  dependencies: {
    readonly counts: Pick<RefusalCounts, 'add'>;
    readonly publish: PublishNotice;
  } & DeliveryTelemetry,
): RefusalNotices {
  const { counts, publish, log, count } = dependencies;
  /** What is to be counted next, by group, while a count of the group is being stored. */
  const gathering = new Map<string, Gathered>();
  const underWay = new Set<Promise<void>>();

  return {
    add(notice) {
      const group = { principal: principalOf(notice.sender), reason: notice.reason };
      const key = `${group.reason}#${group.principal}`;
      const gathered = gathering.get(key);
      if (gathered) gather(gathered, notice);
      else begin(countAll(key, group, notice));
    },

    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };

  function begin(work: Promise<void>): void {
    const done = work.finally(() => underWay.delete(done));
    underWay.add(done);
  }

  /** Counts until nothing is left to count. */
  async function countAll(key: string, group: RefusedGroup, first: RefusalNotice): Promise<void> {
    let next: Gathered = { refused: 1, notices: [first] };
    while (next.refused > 0) {
      const gathered: Gathered = { refused: 0, notices: [] };
      gathering.set(key, gathered);
      await countAndTell(group, next);
      next = gathered;
    }
    gathering.delete(key);
  }

  async function countAndTell(group: RefusedGroup, { refused, notices }: Gathered): Promise<void> {
    try {
      const before = await counts.add(group, refused);
      const told = notices.slice(0, Math.max(0, noticesPerMinute - before));
      for (const notice of told) begin(tell(notice)); // the next count does not wait for the topic
    } catch (error) {
      count('RefusalNotTold', refused);
      log.error('refusal.not_counted', {
        sender: group.principal,
        reason: group.reason,
        refused,
        ...describeError(error),
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

/** Refused events of a group: how many, and the first of them. */
interface Gathered {
  refused: number;
  readonly notices: RefusalNotice[];
}

function gather(gathered: Gathered, notice: RefusalNotice): void {
  gathered.refused += 1;
  if (gathered.notices.length < noticesPerMinute) gathered.notices.push(notice);
}
