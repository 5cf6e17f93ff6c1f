import type { AttemptRecord, Delivery } from '../../lambdas/delivery/delivery.ts';
import { toAttemptRecord, wireResults, wireStates } from '../../lambdas/delivery/representation.ts';
import { fields, iso, table } from './report.ts';

/** The JSON of a delivery, without its body: that is confidential to the webhook's owner. */
export function deliveryView(delivery: Delivery) {
  return {
    id: delivery.id,
    messageId: delivery.messageId ?? null,
    accountId: delivery.accountId,
    evento: delivery.eventName,
    webhookId: delivery.webhookId,
    state: wireStates[delivery.state],
    createdAt: iso(delivery.createdAt),
    nextAttemptAt: iso(delivery.wait?.nextAttemptAt),
    settledAt: iso(delivery.settledAt),
    attempts: delivery.attempts.map(toAttemptRecord),
  };
}

/** The text of a delivery with its attempts. */
export function deliveryText(delivery: Delivery): string {
  const shown = deliveryView(delivery);
  const lines = fields([
    ['delivery', shown.id],
    ['message', shown.messageId ?? '-'],
    ['event', shown.evento],
    ['account', shown.accountId],
    ['state', shown.state],
    ['accepted', shown.createdAt ?? '-'],
    ['next attempt', shown.nextAttemptAt ?? '-'],
    ['settled', shown.settledAt ?? '-'],
  ]);
  return `${lines}\n\n${table(delivery.attempts, attemptColumns, 'No attempt yet.')}`;
}

const attemptColumns = [
  { heading: 'ATTEMPT', cell: (attempt: AttemptRecord) => String(attempt.number) },
  { heading: 'BEGUN', cell: (attempt: AttemptRecord) => attempt.startedAt },
  { heading: 'TOOK', cell: (attempt: AttemptRecord) => `${attempt.durationMs} ms` },
  { heading: 'RESULT', cell: (attempt: AttemptRecord) => wireResults[attempt.result] },
  { heading: 'STATUS', cell: (attempt: AttemptRecord) => String(attempt.status ?? '-') },
];
