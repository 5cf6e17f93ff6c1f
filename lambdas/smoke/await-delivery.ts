import { endOf } from './ending.ts';
import type { DeliveryDetail, Service, Tokens } from './service.ts';
import { TestFinding } from './step-record.ts';
import type { TestEvent } from './test-event.ts';

/** Waits. Rejects when the signal is aborted. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

/**
 * Asks for the delivery until it was delivered.
 *
 * @throws {TestFinding} where it will not be delivered, or the test ends before it is.
 */
export async function untilDelivered(
  service: Service,
  pause: Pause,
  { accessToken }: Tokens,
  { eventName, deliveryId }: TestEvent,
  signal: AbortSignal,
): Promise<DeliveryDetail> {
  let seen: DeliveryDetail | undefined;
  try {
    for (;;) {
      seen = (await service.findDelivery(accessToken, eventName, deliveryId, signal)) ?? seen;
      if (seen?.estado === 'entregue') return seen;
      const refusal = seen && whyNever(seen);
      if (refusal !== undefined) throw new TestFinding(refusal, placeOf(deliveryId));
      await pause(pollIntervalMs, signal);
    }
  } catch (error) {
    if (!signal.aborted || error instanceof TestFinding) throw error;
    const state = seen ? describeWaiting(seen) : 'no attempt is recorded: the message may still be in the events queue';
    throw new TestFinding(`${endOf(signal)}; ${state}`, seen ? placeOf(deliveryId) : undefined);
  }
}

/** What came of the last attempt at a delivery that was delivered. */
export function describeDelivered({ tentativas }: DeliveryDetail): string {
  const latest = tentativas.at(-1);
  return `answered ${latest?.status} to attempt ${latest?.numero} after ${latest?.duracao_ms} ms`;
}

/** Why a delivery will not be delivered in this test; `undefined` where it still may be. */
function whyNever({ estado, tentativas }: DeliveryDetail): string | undefined {
  if (estado !== 'pendente') return `the delivery ended as ${estado}${describeAttempts(tentativas)}`;
  const latest = tentativas.at(-1);
  if (latest?.resultado === 'bloqueada')
    return `the receiver is at an address that is not public${describeAttempts(tentativas)}`;
  const isRefused = refusals.test(String(latest?.status));
  return isRefused ? `the receiver refuses the delivery${describeAttempts(tentativas)}` : undefined;
}

/** A 4xx but 408 and 429, with which a receiver asks for another attempt. */
const refusals = /^4(?!08|29)\d\d$/;

function describeWaiting({ tentativas }: DeliveryDetail): string {
  return `the delivery waits for its next attempt${describeAttempts(tentativas)}`;
}

function describeAttempts(attempts: DeliveryDetail['tentativas']): string {
  const latest = attempts.at(-1);
  if (!latest) return '';
  const status = latest.status === null ? '' : ` ${latest.status}`;
  return `: attempt ${latest.numero} ended with ${latest.resultado}${status} after ${latest.duracao_ms} ms`;
}

function placeOf(deliveryId: string): string {
  return `"events find ${deliveryId}", and the log of the receiver`;
}

/** The service is asked for the delivery at this interval. In milliseconds. */
const pollIntervalMs = 500;
