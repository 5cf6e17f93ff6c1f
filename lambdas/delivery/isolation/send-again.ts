import type { Delivery, Mover, WaitingDelivery } from '../delivery.ts';
import type { AttemptMessage, AttemptQueue } from '../queues.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';

/**
 * Sends a delivery's message to the slow queue once more where the message in hand has moved it there: a process that had that message
 * before may have stored the move and died, or got no answer, before it sent anything. Returns whether it was so. Throws where the
 * queue does not take it: until then the message in hand must come back.
 */
export type SendAgain = (
  delivery: Delivery,
  message: Pick<AttemptMessage, 'attempt' | 'broughtForwardAt'> & Pick<Mover, 'moverId'>,
) => Promise<boolean>;

export function makeSendAgain({
  slowQueue,
  log,
}: {
  readonly slowQueue: Pick<AttemptQueue, 'send'>;
  readonly log: DeliveryTelemetry['log'];
}): SendAgain {
  return async function sendAgain(delivery, message) {
    if (!isMoved(delivery) || delivery.wait.movedBy !== message.attempt) return false;
    if (delivery.wait.moverId !== message.moverId) return false;
    if (delivery.broughtForward?.at !== message.broughtForwardAt) return false;
    await slowQueue.send(delivery);
    log.info('delivery.sent_again', describeDelivery(delivery));
    return true;
  };
}

function isMoved(delivery: Delivery): delivery is WaitingDelivery {
  return delivery.wait?.slowLane === 'queued';
}
