import type { LogName } from '../../../lambdas/platform/log-names.ts';
import { sentAt } from '../arrival.ts';
import type { World } from '../make-world.ts';
import { deadLetters } from '../stage.ts';
import { storedDeliveries } from './stored.ts';
import type { Check, Violate } from './violation.ts';

/** Checks that `events find` reports the correct outcome of an event. */
export function checkFindings(
  { cloud, watched, publications, people }: World,
  startedAt: number,
  violate: Violate,
): Check {
  return { checkAtEnd };

  function checkAtEnd(): void {
    const deliveries = storedDeliveries(watched);
    const deadLetterBodies = new Set(cloud.queue(deadLetters.queue).bodies());
    for (const publication of publications) {
      const { account, deliveryId, body, isMalformed } = publication;
      const verdict = people.findVerdicts().get(deliveryId);
      const isRetained = !people.wasDeleted(account, startedAt + sentAt(publication));
      if (verdict === undefined || !isRetained) continue;
      const delivery = deliveries.get(deliveryId);
      const isRejected = isMalformed || (deadLetterBodies.has(body) && !isLogged(deliveryId, 'event.without_webhook')); // otherwise a redriven copy
      const expected = delivery ? [delivery.state] : isRejected ? ['rejected'] : verdictsWithoutDelivery(deliveryId);
      if (!expected.some(one => one === verdict))
        violate(`"events find" returned ${verdict}, not ${expected}`, deliveryId);
    }
  }

  /** Returns the expected verdicts without a delivery. If the webhook was deleted during the attempt, only the log shows the attempt. */
  function verdictsWithoutDelivery(deliveryId: string): readonly string[] {
    return isLogged(deliveryId, 'delivery.outcome_not_stored') ? ['delivered', 'cancelled'] : ['no webhook'];
  }

  function isLogged(deliveryId: string, message: LogName): boolean {
    return cloud.logs({ text: deliveryId }).some(({ text }) => text.includes(`"${message}"`));
  }
}
