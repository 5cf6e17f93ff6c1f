import { setTimeout as pause } from 'node:timers/promises';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { FaultKind } from '@emissor/local-cloud/fault-injection';
import type { Delivery } from '../../lambdas/delivery/delivery.ts';
import type { Dynamo } from '../../lambdas/platform/aws/dynamo.ts';
import type { LocalRun } from '../../tools/support/local-run.ts';
import { isDelayedByError, isLeftToSweeper } from './audit.ts';
import { type FaultPlan, wereInjected, writeFaults } from './fault-injection.ts';
import type { PublishedEvent } from './publisher.ts';
import { readStored, waitingMessages } from './run-state.ts';

/**
 * Waits until nothing is outstanding. Ends the faults that went on after publishing once each was injected.
 *
 * @returns what is outstanding when time is up, as findings.
 */
export async function untilIdle(published: PublishedRun): Promise<readonly string[]> {
  const { settings, run, faultsFile, deadline, say } = published;
  let isInjecting = true;
  let saidAt = Date.now();
  for (;;) {
    if (isInjecting && wereInjected(run, Object.keys(settings.faults.afterwards) as FaultKind[])) {
      isInjecting = false;
      writeFaults(faultsFile, {});
    }
    const { messages, deliveries, announcements } = await outstanding(published);
    if (messages <= 0 && deliveries === 0 && announcements === 0) return [];
    const what = `${deliveries} deliveries, ${announcements} announcements and ${messages} messages`;
    if (Date.now() > deadline) return [`outstanding when time was up: ${what}`];
    if (Date.now() - saidAt > 15_000) {
      saidAt = Date.now();
      say(`  Waiting for ${what} …`);
    }
    await pause(settings.waitsForRecovery ? 5_000 : 500); // reading the whole table takes the engine's time
  }
}

/** A run after everything was published. */
interface PublishedRun {
  readonly settings: { readonly faults: Pick<FaultPlan, 'afterwards'>; readonly waitsForRecovery: boolean };
  readonly run: LocalRun;
  readonly sqs: SQSClient;
  readonly dynamo: Dynamo;
  readonly published: readonly PublishedEvent[];
  readonly faultsFile: string;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  readonly say: (line: string) => void;
}

/** Counts what is outstanding, without the deliveries that this run does not wait for, and their messages. */
async function outstanding({ settings: { waitsForRecovery }, run, sqs, dynamo, published }: PublishedRun) {
  const messages = await waitingMessages(sqs, run.outputs);
  const { deliveries, announcing } = await readStored(dynamo, run.outputs);
  const now = Date.now();
  const isDelayed = (delivery: Delivery) => !waitsForRecovery && isDelayedByError(delivery, now);
  const isLeft = (delivery: Delivery) => !waitsForRecovery && isLeftToSweeper(delivery, now);
  const pending = [...deliveries.values()].filter(({ state }) => state === 'pending');
  const unstored = published.filter(
    ({ registration, deliveryId }) => !registration.behaviour.isUnregistered && !deliveries.has(deliveryId),
  );
  return {
    messages: messages - pending.filter(isDelayed).length,
    deliveries: unstored.length + pending.filter(delivery => !isDelayed(delivery) && !isLeft(delivery)).length,
    announcements: waitsForRecovery ? announcing.size : 0,
  };
}
