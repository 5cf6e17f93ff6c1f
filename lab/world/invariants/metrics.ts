import { type Delivery, isResent } from '../../../lambdas/delivery/delivery.ts';
import type { World } from '../make-world.ts';
import { minute } from '../times.ts';
import type { Evidence } from './evidence.ts';
import { storedDeliveries } from './stored.ts';
import type { Judgement, Violate } from './violation.ts';

/** Judges that the metrics match the events, because operators' alarms only use metrics. */
export function judgeMetrics(
  { cloud, watched, metrics, accounts, faultClass }: World,
  evidence: () => Evidence,
  violate: Violate,
): Judgement {
  return { look, judgeEnd };

  /** Judges that each successful sweep measures overdue deliveries. Otherwise the sweeper's alarm fires. */
  function look(): void {
    const now = cloud.now();
    const sweeps = metrics.all().filter(({ metric, at }) => metric === 'OldestDue' && at > now - maxSweep);
    if (sweeps.length === 0) return;
    const measured = Math.max(...sweeps.map(({ value }) => value));
    for (const { id, state, wait } of storedDeliveries(watched).values()) {
      if (state !== 'pending' || !wait) continue;
      const lateness = now - wait.nextAttemptAt;
      if (lateness > maxUnmeasured && measured < lateness - maxSweep) violate('overdue, but not in the metric', id);
    }
  }

  function judgeEnd(): void {
    for (const [metric, line] of Object.entries(lineOf)) {
      const count = cloud.logs({ text: line }).length;
      if (metrics.sum(metric) !== count) violate(`${metrics.sum(metric)} × ${metric}, and ${count} lines`);
    }
    const attempts = metrics.all().filter(({ metric }) => metric === 'Delivered');
    const lines = cloud.logs({ text: '"message":"delivery.attempt"' });
    const ofEvents = lines.filter(({ text }) => text.includes('"deliveryId":"evt_'));
    const isSuccess = ({ text }: { readonly text: string }) => text.includes('"result":"delivered"');
    const successes = ofEvents.filter(isSuccess);
    if (!isBetween(attempts.length, ofEvents)) violate(`${attempts.length} samples of Delivered do not match the log`);
    if (!isBetween(metrics.sum('Delivered'), successes))
      violate(`${metrics.sum('Delivered')} × Delivered do not match the successes`);
    if (faultClass !== 'calm') return;
    for (const account of accounts) judgeLines(account, lines);
    const failed = cloud.trace(({ kind, text }) => kind === 'invocation' && text.includes(' failed'));
    for (const { text } of failed) violate(`in calm an invocation failed: ${text}`);
  }

  /** Returns whether a count matches the lines of attempts. An attempt in flight may be requested again. */
  function isBetween(count: number, lines: readonly { readonly text: string }[]): boolean {
    const requested = lines.map(({ text }) => wasRequested(text));
    const counted = requested.filter(was => was === 'no').length;
    return count >= counted && count <= counted + requested.filter(was => was === 'meanwhile').length;
  }

  /** Returns whether the attempt of a line was requested. The metrics exclude requested attempts and tests. */
  function wasRequested(line: string): 'yes' | 'no' | 'meanwhile' {
    const { deliveryId, messageId, attempt }: AttemptLine = JSON.parse(line);
    const changes = evidence().deliveries.get(deliveryId) ?? [];
    const versions = changes.flatMap(({ delivery }) => delivery ?? []).filter(each => each.messageId === messageId);
    const [first] = versions;
    if (first && first.scheduledAt !== first.createdAt) return 'yes'; // a redrive
    const due = versions.filter(each => each.state === 'pending' && each.attempt === attempt);
    if (!due.some(isResent)) return 'no';
    return due.every(isResent) ? 'yes' : 'meanwhile';
  }

  /** Without faults and changes by people, each recorded attempt has a line. */
  function judgeLines({ id, isRestless }: World['accounts'][number], lines: ReturnType<typeof cloud.logs>): void {
    if (isRestless) return;
    const logged = lines.filter(({ text }) => text.includes(`"account":"${id}"`)).length;
    const own = [...storedDeliveries(watched).values()].filter(({ accountId }) => accountId === id);
    const recorded = own.reduce((sum, { attempts }) => sum + attempts.length, 0);
    if (logged !== recorded) violate(`${logged} attempts of ${id} were logged, and ${recorded} recorded`);
  }
}

/** An event that is republished after the deletion of its account has the same id. Only the message differs. */
type AttemptLine = Pick<Delivery, 'messageId' | 'attempt'> & { readonly deliveryId: string };

/** A process that dies has written either both line and metric or neither. */
const lineOf: Readonly<Record<string, RegExp>> = {
  InternalError: /"message":"delivery\.attempt".*"result":"internal"|"message":"message\.deferred"/,
  EventWithoutWebhook: /"message":"event\.without_webhook"/,
};

/** The maximum time in which two sweeps start, and the first one ends. */
const maxSweep = 2.25 * minute;

/** A delivery is overdue 2 minutes after its due time, and the next sweep finds it. */
const maxUnmeasured = 3.5 * minute;
