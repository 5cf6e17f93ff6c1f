import { type Clock, isoTime } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import { pauseAfterFailedNotice, refusalWindow } from '../limits.ts';
import type { DueTask } from '../store/due-index.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import type { CountedRefusals, RefusalTotals } from './refusal-counts.ts';
import type { SuppressedRefusals } from './refusal-notice.ts';
import type { PublishNotice } from './refused-events-topic.ts';

/**
 * Makes the sweeper's task for the count of a minute's refused events: one notice says how many were not told one by one.
 * They are marked as told first, so that no write that is repeated or lost tells them twice. What cannot be published is left for a
 * later sweep, and fails none.
 */
export function makeSuppressedRefusalsTask(
  dependencies: {
    readonly totals: RefusalTotals;
    readonly publish: PublishNotice;
    readonly now: Clock;
  } & DeliveryTelemetry,
): DueTask {
  const { totals, publish, now, log, count } = dependencies;
  let pauseUntil = 0;

  return async function tellSuppressedRefusals({ id }, hasTime) {
    if (!hasTime() || now() < pauseUntil) return;
    const counted = await totals.read(id);
    if (!counted) return;
    const { principal: sender, reason, beganAt, keptBack, told } = counted;
    const mark = totals.drawMark();
    const isMarked = await totals.markTold(counted, mark).catch(error => takeBack(error, counted, mark));
    const suppressed = keptBack - told;
    if (!isMarked || suppressed <= 0) return;
    const [since, until] = [isoTime(beganAt), isoTime(beganAt + refusalWindow)];
    if (!(await tell({ sender, reason, suppressed, since, until }))) await totals.unmarkTold(counted, mark);
  };

  /** Takes back a mark that may have been written, though no answer came. @throws the error that was given */
  async function takeBack(error: unknown, counted: CountedRefusals, mark: string): Promise<never> {
    await totals.unmarkTold(counted, mark).catch(() => count('RefusalNotTold'));
    throw error;
  }

  /** Publishes the notice. Returns whether that succeeded. */
  async function tell(notice: SuppressedRefusals): Promise<boolean> {
    const { sender, reason, suppressed } = notice;
    try {
      await publish(notice);
      log.info('refusals.suppressed', { sender, reason, suppressed });
      return true;
    } catch (error) {
      pauseUntil = now() + pauseAfterFailedNotice;
      count('RefusalNotTold');
      log.error('refusals.not_told', { sender, reason, suppressed, ...describeError(error) });
      return false;
    }
  }
}
