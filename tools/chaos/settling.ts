import { setTimeout as pause } from 'node:timers/promises';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Delivery } from '../../lambdas/delivery/delivery.ts';
import type { FaultKind } from '../../local/fault-injection.ts';
import type { LocalRun } from '../support/local-run.ts';
import { isLeftToSweeper, isWaitingOut } from './audit.ts';
import type { ChaosPlan } from './chaos-run.ts';
import { readStored, waitingMessages } from './engines.ts';
import type { PublishedEvent } from './publisher.ts';
import { hasStruck, writeFaults } from './storm.ts';

/** Waits until nothing is outstanding, and ends the aftermath of the storm. Gives what is left when time is up. */
export async function untilSettled(aftermath: Aftermath): Promise<readonly string[]> {
  const { plan, run, faultsFile, deadline, say } = aftermath;
  let isCalm = false;
  let said = Date.now();
  for (;;) {
    if (!isCalm && hasStruck(run, Object.keys(plan.storm.aftermath) as FaultKind[])) {
      isCalm = true;
      writeFaults(faultsFile, {});
    }
    const { messages, deliveries, announcements } = await outstanding(aftermath);
    if (messages <= 0 && deliveries === 0 && announcements === 0) return [];
    const what = `${deliveries} deliveries, ${announcements} announcements and ${messages} messages`;
    if (Date.now() > deadline) return [`outstanding when time was up: ${what}`];
    if (Date.now() - said > 15_000) {
      said = Date.now();
      say(`  Waiting for ${what} …`);
    }
    await pause(plan.waitsForMending ? 5_000 : 500); // reading the whole table takes the engine's time
  }
}

/** A run after its storm. */
interface Aftermath {
  readonly plan: ChaosPlan;
  readonly run: LocalRun;
  readonly sqs: SQSClient;
  readonly dynamo: DynamoDBDocumentClient;
  readonly published: readonly PublishedEvent[];
  readonly faultsFile: string;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  readonly say: (line: string) => void;
}

/** How much is still to come. What is not waited for does not count, and neither do its messages. */
async function outstanding({ plan: { waitsForMending }, run, sqs, dynamo, published }: Aftermath) {
  const messages = await waitingMessages(sqs, run.outputs);
  const { deliveries, notices } = await readStored(dynamo, run.outputs);
  const now = Date.now();
  const waitsOut = (delivery: Delivery) => !waitsForMending && isWaitingOut(delivery, now);
  const isLeft = (delivery: Delivery) => !waitsForMending && isLeftToSweeper(delivery, now);
  const pending = [...deliveries.values()].filter(({ state }) => state === 'pending');
  const unstored = published.filter(
    ({ registration, deliveryId }) => !registration.kind.isUnregistered && !deliveries.has(deliveryId),
  );
  return {
    messages: messages - pending.filter(waitsOut).length,
    deliveries: unstored.length + pending.filter(delivery => !waitsOut(delivery) && !isLeft(delivery)).length,
    announcements: waitsForMending ? notices.size : 0,
  };
}
