import type { MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { makeWorld } from '../../lab/world/make-world.ts';
import { deadLetters, rejectedEventsTopic } from '../../lab/world/stage.ts';
import type { Delivery } from '../../lambdas/delivery/delivery.ts';
import type { PublishNotice } from '../../lambdas/delivery/intake/rejected-events-topic.ts';
import { deliveryFromItem } from '../../lambdas/delivery/store/delivery-item.ts';
import { headPart } from '../../lambdas/delivery/store/head-key.ts';
import type { PublishedAnnouncement } from '../../lambdas/delivery/sweeper/announcements.ts';

/** Creates functions that return the stored items, publications and logs of a stage. A log line is a JSON list of its message and fields. */
export function makeStageViews(
  { cloud, tables }: Pick<ReturnType<typeof makeWorld>, 'cloud' | 'tables'>,
  lines: readonly string[],
) {
  return {
    ...{ items, deliveries, only, deferrals },
    waiting: (queue: string) => cloud.queue(queue).all(),
    deadLetters: () =>
      cloud
        .queue(deadLetters.queue)
        .all()
        .map(({ body, attributes }) => ({ body, ...textsOf(attributes) })),
    published: () => cloud.published.map(({ message }) => message),
    announced: (): readonly PublishedAnnouncement[] => reported(topic => topic !== rejectedEventsTopic),
    notices: (): readonly Parameters<PublishNotice>[0][] => reported(topic => topic === rejectedEventsTopic),
  };

  /** Returns the items of the deliveries table without the responses of receivers. */
  function items() {
    return tables.items('Deliveries').filter(({ part }) => part === headPart);
  }

  function deliveries(): readonly Delivery[] {
    const found = items().filter(({ id }) => !String(id).includes('#'));
    return found.map(deliveryFromItem).toSorted((one, other) => one.id.localeCompare(other.id));
  }

  /** Returns the only delivery. @throws if the number of deliveries is not one */
  function only(): Delivery {
    const [delivery, ...others] = deliveries();
    if (!delivery || others.length > 0) throw new Error(`There are ${deliveries().length} deliveries instead of one.`);
    return delivery;
  }

  /** Returns the names of the errors that deferred messages. */
  function deferrals(): readonly string[] {
    const deferred = lines.map(line => JSON.parse(line)).filter(([message]) => message === 'message.deferred');
    return deferred.map(([, { errorName }]) => errorName);
  }

  function reported(isOf: (topic: string) => boolean) {
    return cloud.published
      .filter(({ topicArn }) => isOf(topicArn))
      .map(({ message }) => JSON.parse(message.Message ?? ''));
  }
}

function textsOf(attributes: Readonly<Record<string, MessageAttributeValue>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(attributes).map(([name, { StringValue }]) => [name, StringValue]));
}
