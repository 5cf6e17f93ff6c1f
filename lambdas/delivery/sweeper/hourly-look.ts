import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { isUnavailable } from '../../platform/aws/dynamo.ts';
import type { ReadEventSourceState } from '../../platform/aws/event-source.ts';
import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';

/**
 * Makes the look that the sweeper takes in the first minute of each hour, at what alarms cannot see by themselves. Sweeps go on,
 * whatever it finds.
 *
 * - An event source that somebody switched off or deleted: its queue is not read, and nothing fails.
 * - The dead-letter queue. A queue that nobody asked for six hours reports nothing to CloudWatch, and the first dead letter after
 *   that would have no value to grow from.
 */
export function makeHourlyLook({
  eventSources,
  readEventSourceState,
  sqs,
  deadLetterQueueUrl,
  now,
  log,
  count,
}: {
  /** The ids of the event source mappings. */
  readonly eventSources: readonly string[];
  readonly readEventSourceState: ReadEventSourceState;
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly deadLetterQueueUrl: string;
  readonly now: Clock;
} & DeliveryTelemetry): () => Promise<void> {
  return async function hourlyLook() {
    if (new Date(now()).getUTCMinutes() !== 0) return;
    await Promise.all([...eventSources.map(lookAt), keepReporting()]);
  };

  async function lookAt(id: string): Promise<void> {
    try {
      const state = await readEventSourceState(id);
      const isOff = state === 'Disabled' || state === 'Disabling';
      if (!isOff) return;
      count('SourceOff');
      log.error('event_source.off', { id, state });
    } catch (error) {
      if (!isUnavailable(error)) count('SourceOff'); // it is gone, or a look that is refused would see nothing for ever
      log.error('event_source.not_read', { id, ...describeError(error) });
    }
  }

  async function keepReporting(): Promise<void> {
    const AttributeNames = ['ApproximateNumberOfMessages' as const];
    await sqs
      .send(new GetQueueAttributesCommand({ QueueUrl: deadLetterQueueUrl, AttributeNames }))
      .catch(error => log.warn('queue.not_counted', describeError(error)));
  }
}
