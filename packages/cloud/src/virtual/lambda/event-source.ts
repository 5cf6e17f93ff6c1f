import type { MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSMessageAttribute, SQSRecord } from 'aws-lambda';
import type { Queue, Received } from '../../sqs/queue.ts';
import type { VirtualTime } from '../../time.ts';
import type { EventSourceDefinition, Outcome, Scaling } from './definition.ts';
import type { VirtualFunction } from './function.ts';

/** Returns how an event source scales in standard mode. */
export function standardScaling(most: number): Scaling {
  return { first: Math.min(5, most), perMinute: 300, most };
}

/** Connects a queue to a function. It never scales back. `workOfMessage` is in milliseconds of processor time. */
export function connectEventSource(
  definition: EventSourceDefinition,
  { queue, target, time, workOfMessage }: Connected,
) {
  const { scaling, batchSize = 10, standstill } = definition;
  const began = time.now();
  let places = scaling.first;
  let busy = 0;
  let isLookPlanned = false;
  let growsAt = Number.NEGATIVE_INFINITY;
  let isGrowthPlanned = false;
  queue.onVisible(planLook);

  function planLook(): void {
    if (isLookPlanned) return;
    if (busy >= places) {
      planGrowth();
      return;
    }
    isLookPlanned = true;
    time.after(0, look);
  }

  function look(): void {
    const age = time.now() - began;
    if (standstill && standstill.from <= age && age < standstill.until) {
      time.after(standstill.until - age, look);
      return;
    }
    isLookPlanned = false;
    while (busy < places) {
      const batch = queue.receive(batchSize);
      if (batch.length === 0) return;
      busy += 1;
      const event = eventOf(batch, queue.name);
      target.invoke(event, outcome => end(batch, outcome), batch.length * workOfMessage);
    }
    planGrowth();
  }

  function planGrowth(): void {
    if (isGrowthPlanned || busy < places || places >= scaling.most || queue.visible() === 0) return;
    isGrowthPlanned = true;
    growsAt = Math.max(time.now(), growsAt) + 60_000 / scaling.perMinute;
    time.at(growsAt, () => {
      isGrowthPlanned = false;
      if (queue.visible() > 0 && busy >= places) places += 1;
      look();
    });
  }

  function end(batch: readonly Received[], outcome: Outcome): void {
    for (const { receipt } of succeeded(batch, outcome)) queue.remove(receipt);
    busy -= 1;
    planLook();
  }
}

/** Returns the event that a function is given for messages of a queue. */
export function eventOf(batch: readonly Received[], queueName: string): SQSEvent {
  return { Records: batch.map(message => recordOf(message, queueName)) };
}

interface Connected {
  readonly queue: Queue;
  readonly target: VirtualFunction;
  readonly time: Pick<VirtualTime, 'now' | 'at' | 'after'>;
  readonly workOfMessage: number;
}

/** As Lambda decides it: an answer that is malformed, or names a message that is not of the batch, fails the whole batch. */
function succeeded(batch: readonly Received[], outcome: Outcome): readonly Received[] {
  if (outcome.status !== 'answered') return [];
  const { result } = outcome;
  if (result === null || result === undefined || result === '') return batch;
  if (typeof result !== 'object') return [];
  const named: unknown = 'batchItemFailures' in result ? result.batchItemFailures : undefined;
  if (named === null || named === undefined) return batch;
  if (!Array.isArray(named)) return [];
  const failed = new Set(named.map((failure: unknown) => identifierOf(failure)));
  if ([...failed].some(id => !batch.some(message => message.id === id))) return [];
  return batch.filter(({ id }) => !failed.has(id));
}

function identifierOf(failure: unknown): unknown {
  return typeof failure === 'object' && failure && 'itemIdentifier' in failure ? failure.itemIdentifier : undefined;
}

function recordOf({ id, receipt, body, systemAttributes, attributes }: Received, queueName: string): SQSRecord {
  return {
    messageId: id,
    receiptHandle: receipt,
    body,
    attributes: systemAttributes,
    messageAttributes: Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [name, attributeOf(value)]),
    ),
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:virtual:000000000000:${queueName}`,
    awsRegion: 'virtual',
  };
}

function attributeOf({ DataType = 'String', StringValue, BinaryValue }: MessageAttributeValue): SQSMessageAttribute {
  return {
    dataType: DataType,
    ...(StringValue !== undefined && { stringValue: StringValue }),
    ...(BinaryValue !== undefined && { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
  };
}
