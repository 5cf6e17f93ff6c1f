import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Dynamo } from '../../platform/aws/dynamo.ts';
import type { Publish } from '../../platform/aws/topic.ts';
import type { Time } from '../../platform/timer.ts';
import type { Attempts } from '../attempt/attempts.ts';
import type { Random } from '../backoff.ts';
import { makeMoveToDeadLetters } from '../intake/dead-letters.ts';
import { makeRefusalNotices } from '../intake/refusal-notices.ts';
import { makePublishNotice } from '../intake/refused-events-topic.ts';
import { makeWithoutWebhook } from '../intake/without-webhook.ts';
import type { Lane, LaterLane } from '../lane-routing.ts';
import type { Isolation } from '../lanes/isolation.ts';
import { makeWebhookHealth } from '../outcome/webhook-health.ts';
import { makeWebhookHealthStore } from '../outcome/webhook-health-store.ts';
import type { AttemptQueue } from '../queues.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { makeApplyOutcome } from '../transitions.ts';
import type { ProcessRecord } from './batch-consumer.ts';
import { makeDescribeEvent, makeFirstAttempt } from './first-attempt.ts';
import { makeProcessDelivery } from './process-delivery.ts';
import { describeAttemptMessage, makeRetry } from './retry.ts';
import { makeFindWebhookState } from './webhook-state.ts';

/** Makes the processing of a lane's messages of its parts: of events in the first lane, of attempts in the others. */
export function makeMessageProcessing(parts: MessageProcessingParts) {
  const { dynamo, tables, store, isolation, attempts, schedule, lane, now, random } = parts;
  const health = makeWebhookHealth({
    ...parts,
    store: makeWebhookHealthStore({ dynamo, table: tables.webhooks, now }),
  });
  const applyOutcome = makeApplyOutcome({ schedule, now, random });
  const refusals = makeRefusalNotices({
    ...parts,
    publish: makePublishNotice(parts.publish, parts.refusedEventsTopicArn),
  });
  const withoutWebhook = makeWithoutWebhook({ ...parts, table: tables.deliveries });
  const shared = {
    ...parts,
    ...isolation,
    processDelivery: makeProcessDelivery({ ...parts, ...isolation, ...attempts, applyOutcome, health }),
    health,
    findWebhookState: makeFindWebhookState(store, tables),
    moveToDeadLetters: makeMoveToDeadLetters(parts),
  };
  const process: ProcessRecord =
    lane === 'first' ? makeFirstAttempt({ ...shared, refusals, withoutWebhook }) : makeRetry(shared);
  const describe = lane === 'first' ? makeDescribeEvent(parts.demandsUrl) : describeAttemptMessage;
  return { process, describe, settled };

  async function settled(): Promise<void> {
    await Promise.all([refusals.settled(), withoutWebhook.settled()]);
  }
}

interface MessageProcessingParts extends DeliveryTelemetry, Time {
  readonly publish: Publish;
  readonly dynamo: Dynamo;
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly tables: { readonly deliveries: string; readonly webhooks: string };
  readonly store: DeliveryStore;
  readonly queues: Readonly<Record<LaterLane, AttemptQueue>>;
  /** The lane's own queue. */
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
  readonly refusedEventsTopicArn: string;
  readonly isolation: Pick<Isolation, 'admit'>;
  readonly attempts: Attempts;
  /** The waits between attempts, in milliseconds. */
  readonly schedule: readonly number[];
  readonly demandsUrl: string;
  readonly attemptTimeoutMs: number;
  readonly lane: Lane;
  readonly random: Random;
}
