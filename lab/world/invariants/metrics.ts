import { type Delivery, isResent } from '../../../lambdas/delivery/delivery.ts';
import type { World } from '../make-world.ts';
import { minute } from '../times.ts';
import type { Evidence } from './evidence.ts';
import { storedDeliveries } from './stored.ts';
import type { Check, Violate } from './violation.ts';

/** Checks that the metrics match the log, because operators' alarms use only metrics. */
export function checkMetrics(
  { cloud, watched, metrics, accounts, faultClass }: World,
  evidence: () => Evidence,
  violate: Violate,
): Check {
  return { checkDuringRun, checkAtEnd };

  /** Checks that a successful sweep measures overdue deliveries. If no sweep succeeds, the sweeper's alarm fires. */
  function checkDuringRun(): void {
    const now = cloud.now();
    const sweeps = metrics.all().filter(({ metric, at }) => metric === 'OldestDue' && at > now - maxSweepInterval);
    if (sweeps.length === 0) return;
    const maxMeasured = Math.max(...sweeps.map(({ value }) => value));
    for (const { id, state, wait } of storedDeliveries(watched).values()) {
      if (state !== 'pending' || !wait) continue;
      const overdueMs = now - wait.nextAttemptAt;
      if (overdueMs > maxMetricDelay && maxMeasured < overdueMs - maxSweepInterval)
        violate('overdue, but not in the metric', id);
    }
  }

  function checkAtEnd(): void {
    for (const [metric, line] of Object.entries(logLineOf)) {
      const count = cloud.logs({ text: line }).length;
      if (metrics.sum(metric) !== count) violate(`${metric} is ${metrics.sum(metric)}, but the log has ${count} lines`);
    }
    const attempts = metrics.all().filter(({ metric }) => metric === 'Delivered');
    const lines = cloud.logs({ text: '"message":"delivery.attempt"' });
    const eventLines = lines.filter(({ text }) => text.includes('"deliveryId":"evt_'));
    const isSuccess = ({ text }: { readonly text: string }) => text.includes('"result":"delivered"');
    const successes = eventLines.filter(isSuccess);
    if (!matchesLog(attempts.length, eventLines))
      violate(`${attempts.length} samples of Delivered do not match the log`);
    if (!matchesLog(metrics.sum('Delivered'), successes))
      violate(`Delivered is ${metrics.sum('Delivered')}, which does not match the successes`);
    if (faultClass !== 'none') return;
    for (const account of accounts) checkLogLines(account, lines);
    const failed = cloud.trace(({ kind, text }) => kind === 'invocation' && text.includes(' failed'));
    for (const { text } of failed) violate(`an invocation failed without faults: ${text}`);
  }

  /** Returns whether a count matches the log lines of attempts. The count may include attempts that were resent while in flight. */
  function matchesLog(count: number, lines: readonly { readonly text: string }[]): boolean {
    const resendStates = lines.map(({ text }) => resendStateOf(text));
    const minCount = resendStates.filter(state => state === 'no').length;
    return count >= minCount && count <= minCount + resendStates.filter(state => state === 'partly').length;
  }

  /** Returns whether a resend or redrive caused the attempt in a log line. The metrics exclude such attempts and tests. */
  function resendStateOf(line: string): 'yes' | 'no' | 'partly' {
    const { deliveryId, messageId, attempt }: AttemptLine = JSON.parse(line);
    const changes = evidence().deliveries.get(deliveryId) ?? [];
    const versions = changes.flatMap(({ delivery }) => delivery ?? []).filter(each => each.messageId === messageId);
    const [first] = versions;
    if (first && first.scheduledAt !== first.createdAt) return 'yes'; // a redrive
    const due = versions.filter(each => each.state === 'pending' && each.attempt === attempt);
    if (!due.some(isResent)) return 'no';
    return due.every(isResent) ? 'yes' : 'partly';
  }

  /** Checks that the log and the deliveries of an unmodified account contain the same number of attempts. */
  function checkLogLines({ id, isModified }: World['accounts'][number], lines: ReturnType<typeof cloud.logs>): void {
    if (isModified) return;
    const loggedCount = lines.filter(({ text }) => text.includes(`"account":"${id}"`)).length;
    const own = [...storedDeliveries(watched).values()].filter(({ accountId }) => accountId === id);
    const recordedCount = own.reduce((sum, { attempts }) => sum + attempts.length, 0);
    if (loggedCount !== recordedCount)
      violate(`${loggedCount} attempts of ${id} were logged, but ${recordedCount} were recorded`);
  }
}

/** The fields of an attempt's log line. The message id distinguishes an event that is published again after its account was deleted. */
type AttemptLine = Pick<Delivery, 'messageId' | 'attempt'> & { readonly deliveryId: string };

/** The log lines for each metric. A process that crashes has written both the line and the metric, or neither. */
const logLineOf: Readonly<Record<string, RegExp>> = {
  InternalError: /"message":"delivery\.attempt".*"result":"internal"|"message":"message\.deferred"/,
  EventWithoutWebhook: /"message":"event\.without_webhook"/,
};

/** The maximum time from the start of a sweep to the end of the next sweep. */
const maxSweepInterval = 2.25 * minute;

/** The maximum time until a sweep measures an overdue delivery. A delivery counts as overdue 2 minutes after its due time. */
const maxMetricDelay = 3.5 * minute;
