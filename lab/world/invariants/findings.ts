import type { LogName } from '../../../lambdas/platform/log-names.ts';
import { sentAt } from '../arrival.ts';
import type { World } from '../make-world.ts';
import { deadLetters } from '../stage.ts';
import { storedDeliveries } from './stored.ts';
import type { Judgement, Violate } from './violation.ts';

/** Checks that `events find` reports the correct outcome of an event. */
export function judgeFindings(
  { cloud, watched, publications, people }: World,
  startedAt: number,
  violate: Violate,
): Judgement {
  return { judgeEnd };

  function judgeEnd(): void {
    const deliveries = storedDeliveries(watched);
    const dead = new Set(cloud.queue(deadLetters.queue).bodies());
    for (const publication of publications) {
      const { account, deliveryId, body, isMalformed } = publication;
      const verdict = people.found().get(deliveryId);
      const isKept = !people.wasDeleted(account, startedAt + sentAt(publication));
      if (verdict === undefined || !isKept) continue;
      const delivery = deliveries.get(deliveryId);
      const isRefused = isMalformed || (dead.has(body) && !isReported(deliveryId, 'event.without_webhook')); // otherwise a copy of a redriven message
      const expected = delivery ? [delivery.state] : isRefused ? ['rejected'] : verdictsWithoutDelivery(deliveryId);
      if (!expected.some(one => one === verdict))
        violate(`"events find" returned ${verdict}, not ${expected}`, deliveryId);
    }
  }

  /** Returns the expected verdicts without a delivery. If the webhook was deleted during the attempt, only the log contains the attempt. */
  function verdictsWithoutDelivery(deliveryId: string): readonly string[] {
    return isReported(deliveryId, 'delivery.outcome_not_stored') ? ['delivered', 'cancelled'] : ['no webhook'];
  }

  function isReported(deliveryId: string, message: LogName): boolean {
    return cloud.logs({ text: deliveryId }).some(({ text }) => text.includes(`"${message}"`));
  }
}
