import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import type { PublishNotice } from './rejected-events-topic.ts';
import type { RejectionNotice, RejectionReason } from './rejection-notice.ts';

/** The maximum number of notices about rejected events that one process sends per reason and minute. */
export const noticesPerMinute = 10;

export type RejectionNotices = ReturnType<typeof makeRejectionNotices>;

/**
 * Creates the sender of notices. Notices are best effort, so messages neither wait for them nor fail because of them. A process sends at
 * most ten notices per reason and clock minute, so a flood of rejected messages does not cause a flood of notices.
 */
export function makeRejectionNotices(
  dependencies: {
    readonly publish: PublishNotice;
    readonly now: Clock;
  } & DeliveryTelemetry,
) {
  const { publish, now, log, count } = dependencies;
  const sentIn = new Map<RejectionReason, { readonly minute: number; readonly notices: number }>();
  const inFlight = new Set<Promise<void>>();

  return { add, settled };

  /** Starts sending a notice, unless the limit for this minute is reached. */
  function add(notice: RejectionNotice): void {
    const { reason } = notice;
    const minute = Math.floor(now() / 60_000);
    const last = sentIn.get(reason);
    const notices = last?.minute === minute ? last.notices : 0;
    if (notices >= noticesPerMinute) return;
    sentIn.set(reason, { minute, notices: notices + 1 });
    const sent = send(notice).finally(() => inFlight.delete(sent));
    inFlight.add(sent);
  }

  /** Resolves when every notice was sent or has failed. The invocation must wait for this promise. */
  async function settled(): Promise<void> {
    while (inFlight.size > 0) await Promise.all(inFlight);
  }

  async function send(notice: RejectionNotice): Promise<void> {
    try {
      await publish(notice);
    } catch (error) {
      count('NoticeNotSent');
      const { messageId, sender, reason } = notice;
      log.error('notice.not_sent', { messageId, sender, reason, ...describeError(error) });
    }
  }
}
