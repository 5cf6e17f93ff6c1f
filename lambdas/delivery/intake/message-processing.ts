import type { SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '../../platform/aws/documents.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../backoff.ts';
import type { Isolation } from '../isolation/isolation.ts';
import type { Lane, LaterLane } from '../lane-routing.ts';
import type { AttemptQueue } from '../queues.ts';
import { makeRefusalCounts } from '../refusals/refusal-counts.ts';
import { makeRefusalNotices } from '../refusals/refusal-notices.ts';
import { makePublishNotice } from '../refusals/refused-events-topic.ts';
import { makeReplayReader } from '../replay/replay-store.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import { makeWebhookHealthStore } from '../store/webhook-health-store.ts';
import type { MeasuringTelemetry } from '../telemetry.ts';
import { makeApplyOutcome } from '../transitions.ts';
import type { Attempts } from '../worker/attempts.ts';
import type { ProcessRecord } from '../worker/batch-consumer.ts';
import { makeProcessDelivery } from '../worker/process-delivery.ts';
import { describeAttemptMessage, makeRetry } from '../worker/retry.ts';
import { makeSuspensions } from '../worker/suspensions.ts';
import { makeWebhookHealth } from '../worker/webhook-health.ts';
import { makeFindWebhookState } from '../worker/webhook-state.ts';
import { makeMoveToDeadLetters } from './dead-letters.ts';
import { makeDescribeEvent, makeFirstAttempt } from './first-attempt.ts';
import { makeWithoutWebhook } from './without-webhook.ts';

/** Makes the processing of a lane's messages of its parts: of events in the first lane, of attempts in the others. */
export function makeMessageProcessing(parts: MessageProcessingParts) {
  const { dynamo, tables, store, isolation, attempts, schedule, lane, now, random } = parts;
  const deliveries = { dynamo, table: tables.deliveries, now, random };
  const health = makeWebhookHealth({
    ...parts,
    store: makeWebhookHealthStore({ dynamo, table: tables.webhooks, now }),
  });
  const applyOutcome = makeApplyOutcome({ schedule, now, random });
  const suspensions = makeSuspensions({ health, store, applyOutcome });
  const refusals = makeRefusalNotices({
    ...parts,
    counts: makeRefusalCounts(deliveries),
    publish: makePublishNotice(parts.refusedEventsTopicArn),
  });
  const withoutWebhook = makeWithoutWebhook({ ...parts, table: tables.deliveries });
  const shared = {
    ...parts,
    ...isolation,
    processDelivery: makeProcessDelivery({ ...parts, ...isolation, ...attempts, applyOutcome, health, suspensions }),
    suspensions,
    findWebhookState: makeFindWebhookState(store, tables),
    moveToDeadLetters: makeMoveToDeadLetters(parts),
  };
  const process: ProcessRecord =
    lane === 'first'
      ? makeFirstAttempt({ ...shared, refusals, withoutWebhook })
      : makeRetry({ ...shared, replays: makeReplayReader(deliveries) });
  const describe = lane === 'first' ? makeDescribeEvent(parts.demandsUrl) : describeAttemptMessage;
  return { process, describe, settled };

  async function settled(): Promise<void> {
    await Promise.all([refusals.settled(), withoutWebhook.settled()]);
  }
}

interface MessageProcessingParts extends MeasuringTelemetry {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly tables: { readonly deliveries: string; readonly webhooks: string };
  readonly store: DeliveryStore;
  readonly queues: Readonly<Record<LaterLane, AttemptQueue>>;
  /** The lane's own queue. */
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
  readonly refusedEventsTopicArn: string;
  readonly isolation: Pick<Isolation, 'admit' | 'sendAgain' | 'moveToSlowLane' | 'judgeTurn'>;
  readonly attempts: Attempts;
  /** The waits between attempts, in milliseconds. */
  readonly schedule: readonly number[];
  readonly demandsUrl: string;
  readonly lane: Lane;
  readonly now: Clock;
  readonly random: Random;
}
