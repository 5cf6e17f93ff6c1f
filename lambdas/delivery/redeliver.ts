import type { SendToDeadLetters } from './dead-letters.ts';
import type { ProcessRecord } from './deliver.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { Lookup } from './lookup.ts';
import { retryMessage } from './retry-queue.ts';
import type { DeliveryTelemetry } from './telemetry.ts';
import type { TakeTurn } from './turn.ts';

/** What further attempts stand on. */
export interface RedeliverDependencies extends DeliveryTelemetry {
  readonly lookup: Lookup;
  readonly takeTurn: TakeTurn;
  readonly store: Pick<DeliveryStore, 'update'>;
  readonly sendToDeadLetters: SendToDeadLetters;
}

const parseRetryMessage = (body: string) => {
  try {
    return retryMessage.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
};

/** Makes a further attempt, unless that attempt's outcome is stored already. */
export const makeRedeliver = (dependencies: RedeliverDependencies): ProcessRecord => {
  const { lookup, takeTurn, store, sendToDeadLetters, log, count } = dependencies;
  return async ({ body, messageId }) => {
    const message = parseRetryMessage(body);
    if (!message) {
      await sendToDeadLetters({ body, messageId }, { reason: 'malformed', detail: 'not a message of the retry queue' });
      count('DeadLettered');
      log.error('message moved to the dead-letter queue', { messageId, reason: 'malformed' });
      return;
    }
    const { id, id_conta: accountId, evento, tentativa } = message;
    const { delivery, webhook } = await lookup(id, accountId, evento);
    if (delivery?.state === 'pendente' && delivery.attempt === tentativa) {
      await takeTurn(delivery, webhook, after => store.update(delivery, after), 'retry');
      return;
    }
    count('StaleDropped');
    log.info('stale retry', { deliveryId: id, account: accountId, event: evento, attempt: tentativa });
  };
};
