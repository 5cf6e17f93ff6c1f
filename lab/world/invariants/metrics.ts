import { type Delivery, isResent } from '../../../lambdas/delivery/delivery.ts';
import type { World } from '../make-world.ts';
import { minute } from '../times.ts';
import type { Evidence } from './evidence.ts';
import { storedDeliveries } from './stored.ts';
import type { Judgement, Violate } from './violation.ts';

/** Judges whether the metrics say what happened: the alarms of operators see nothing else. */
export function judgeMetrics(
  { cloud, watched, metrics, accounts, faultClass }: World,
  evidence: () => Evidence,
  violate: Violate,
): Judgement {
  return { look, judgeEnd };

  /** Judges that each sweep that succeeds measures what is late. Where none succeeds, the alarm of the sweeper rings. */
  function look(): void {
    const now = cloud.now();
    const sweeps = metrics.all().filter(({ metric, at }) => metric === 'OldestDue' && at > now - maxSweep);
    if (sweeps.length === 0) return;
    const said = Math.max(...sweeps.map(({ value }) => value));
    for (const { id, state, wait } of storedDeliveries(watched).values()) {
      if (state !== 'pending' || !wait) continue;
      const lateness = now - wait.nextAttemptAt;
      if (lateness > untoldLateness && said < lateness - maxSweep) violate('late, and the metric does not say so', id);
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
    if (!isBetween(attempts.length, ofEvents)) violate(`${attempts.length} samples of Delivered, and other lines`);
    if (!isBetween(metrics.sum('Delivered'), successes))
      violate(`${metrics.sum('Delivered')} × Delivered, and another number of successes`);
    if (faultClass !== 'calm') return;
    for (const account of accounts) judgeLines(account, lines);
    const failed = cloud.trace(({ kind, text }) => kind === 'invocation' && text.includes(' failed'));
    for (const { text } of failed) violate(`in calm an invocation failed: ${text}`);
  }

  /** Returns whether so many attempts may be counted of those that have a line. An attempt in flight may be asked for once more. */
  function isBetween(count: number, lines: readonly { readonly text: string }[]): boolean {
    const asked = lines.map(({ text }) => wasAskedFor(text));
    const counted = asked.filter(was => was === 'no').length;
    return count >= counted && count <= counted + asked.filter(was => was === 'meanwhile').length;
  }

  /** Returns whether the attempt of a line was asked for: neither these nor tests count. */
  function wasAskedFor(line: string): 'yes' | 'no' | 'meanwhile' {
    const { deliveryId, messageId, attempt }: AttemptLine = JSON.parse(line);
    const changes = evidence().deliveries.get(deliveryId) ?? [];
    const versions = changes.flatMap(({ delivery }) => delivery ?? []).filter(each => each.messageId === messageId);
    const [first] = versions;
    if (first && first.scheduledAt !== first.createdAt) return 'yes'; // a redrive
    const due = versions.filter(each => each.state === 'pending' && each.attempt === attempt);
    if (!due.some(isResent)) return 'no';
    return due.every(isResent) ? 'yes' : 'meanwhile';
  }

  /** Where nothing goes wrong and nobody changes anything, each attempt that is recorded was told. */
  function judgeLines({ id, isRestless }: World['accounts'][number], lines: ReturnType<typeof cloud.logs>): void {
    if (isRestless) return;
    const told = lines.filter(({ text }) => text.includes(`"account":"${id}"`)).length;
    const own = [...storedDeliveries(watched).values()].filter(({ accountId }) => accountId === id);
    const recorded = own.reduce((sum, { attempts }) => sum + attempts.length, 0);
    if (told !== recorded) violate(`${told} attempts of ${id} were told, and ${recorded} recorded`);
  }
}

/** An event that is published again after its account was deleted has the same id as before: only the message differs. */
type AttemptLine = Pick<Delivery, 'messageId' | 'attempt'> & { readonly deliveryId: string };

/** A process that dies has written neither a line nor a metric, or both: nothing lies between them. */
const lineOf: Readonly<Record<string, RegExp>> = {
  InternalError: /"message":"delivery\.attempt".*"result":"internal"|"message":"message\.deferred"/,
  EventWithoutWebhook: /"message":"event\.without_webhook"/,
};

/** Two sweeps begin in this time, and the first of them has ended. */
const maxSweep = 2.25 * minute;

/** A delivery is overdue two minutes after it was due, and the next sweep sees it. */
const untoldLateness = 3.5 * minute;
