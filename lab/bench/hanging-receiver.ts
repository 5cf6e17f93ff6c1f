import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { slownessId } from '../../lambdas/delivery/isolation/slow-since.ts';
import { headKey } from '../../lambdas/delivery/store/head-key.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { batchesOf, batchSize } from './consumer.ts';
import type { DeliveryTestbed } from './delivery-testbed.ts';
import { alternate, cpuPerDelivery, type DeliverySize, type Throughput, throughputOf } from './throughput.ts';

/** The cost of a receiver that never answers to one consumer process. */
export interface HangingReceiverResult {
  /** Until the first batch is over, in milliseconds: all of its attempts have timed out. */
  readonly firstBatchMs: number;
  /** From then until the webhook's events were left to the slow lane, in milliseconds from the batch's beginning. */
  readonly movedAfterMs: number;
  /** Per attempt that times out. */
  readonly cpuMs: number;
  /** Its events after that: none is attempted here. */
  readonly moved: Throughput;
  /** From then on: batches of healthy events, and the same with two of the hanging webhook's among them. */
  readonly alone: Throughput;
  readonly beside: Throughput;
}

/** Measures what a receiver that never answers costs a process, and what it costs others' events there. */
export async function measureHangingReceiver(
  testbed: DeliveryTestbed,
  { quickEvent, hangingEvent }: Events,
  size: DeliverySize,
): Promise<HangingReceiverResult> {
  const { begin, dynamo, outputs } = testbed;
  const consumer = begin('ours', 'emulated');
  const healthyEvents = Array<EventName>(batchSize - 2).fill(quickEvent);
  const healthy = batchesOf(outputs, healthyEvents);
  const mixed = batchesOf(outputs, [...healthyEvents, hangingEvent, hangingEvent]);
  const hangingOnly = batchesOf(outputs, Array<EventName>(batchSize).fill(hangingEvent));
  await consumer.consume(size.warmUp, healthy);

  const startedAt = Date.now();
  const first = await consumer.consume(1, hangingOnly);
  const firstBatchMs = Date.now() - startedAt;
  const slow = slownessId({ accountId: outputs.Demo.AccountId, eventName: hangingEvent });
  const { table: TableName, key: Key } = headKey(outputs.DeliveriesTable, slow);
  const { Item } = await dynamo(new GetCommand({ TableName, Key }));

  const moved = await consumer.consume(size.batches, hangingOnly);
  const { alone, beside } = await alternate(
    { alone: counts => consumer.consume(counts, healthy), beside: counts => consumer.consume(counts, mixed) },
    { ...size, warmUp: 1 },
  );
  return {
    firstBatchMs,
    movedAfterMs: Number(Item?.slowSince) - startedAt,
    cpuMs: cpuPerDelivery(first),
    moved: throughputOf([moved]),
    alone: throughputOf(alone),
    beside: throughputOf(beside),
  };
}

/** Two webhooks' events. */
interface Events {
  readonly quickEvent: EventName;
  /** Its receiver never answers. */
  readonly hangingEvent: EventName;
}
