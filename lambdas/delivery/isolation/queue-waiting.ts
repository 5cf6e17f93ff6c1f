import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import { giveUpEvery } from '../limits.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';

/** Whether messages wait in the lane's queue. Never throws: where the queue does not say, nobody waits. */
export type AreMessagesWaiting = () => Promise<boolean>;

/** What asking a queue depends on. */
export interface MessagesWaitingDependencies extends Pick<DeliveryTelemetry, 'log'> {
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly now: Clock;
}

/** Makes the question to one queue. All attempts of a process share an answer, which lives for a second. */
export function makeAreMessagesWaiting({ sqs, queueUrl, now, log }: MessagesWaitingDependencies): AreMessagesWaiting {
  const command = { QueueUrl: queueUrl, AttributeNames: ['ApproximateNumberOfMessages' as const] };
  let answer: Promise<boolean> = Promise.resolve(false);
  let askedAt = Number.NEGATIVE_INFINITY;

  const ask = async (): Promise<boolean> => {
    try {
      const { Attributes } = await sqs.send(new GetQueueAttributesCommand(command));
      return Number(Attributes?.ApproximateNumberOfMessages) > 0;
    } catch (error) {
      log.warn('queue.not_counted', describeError(error));
      return false;
    }
  };
  return function areMessagesWaiting() {
    if (now() - askedAt >= giveUpEvery) {
      askedAt = now();
      answer = ask();
    }
    return answer;
  };
}
