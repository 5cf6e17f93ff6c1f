import type { MessageAttributeValue } from '@aws-sdk/client-sqs';
import { deadLetters } from '../../../lab/world/stage.ts';
import type { Delivery } from '../../../lambdas/delivery/delivery.ts';
import { deliveryFromItem } from '../../../lambdas/delivery/store/delivery-item.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import type { SteppedCloud } from './stepped-cloud.ts';

/** Makes what a test sees of what is stored, and of what was logged: each line is a list of its message and its fields, as JSON. */
export function makeLooks({ tables, cloud }: Pick<SteppedCloud, 'tables' | 'cloud'>, lines: readonly string[]) {
  return { items, answerItems, deliveries, only, deadLetters: allDeadLetters, deferrals };

  /** Everything of the table of deliveries but the answers of receivers. */
  function items() {
    return tables.items('Deliveries').filter(({ part }) => part === headPart);
  }

  /** The answers of receivers that have items of their own, those that no record names among them. */
  function answerItems() {
    return tables.items('Deliveries').filter(({ part }) => part !== headPart);
  }

  function deliveries(): readonly Delivery[] {
    const found = items()
      .filter(({ id }) => !id.includes('#'))
      .map(deliveryFromItem);
    return found.toSorted((one, other) => one.id.localeCompare(other.id));
  }

  /** Returns the one delivery. */
  function only(): Delivery {
    const [delivery, ...others] = deliveries();
    if (!delivery || others.length > 0) throw new Error(`There are ${deliveries().length} deliveries, and not one.`);
    return delivery;
  }

  /** Their bodies, and their attributes by name. */
  function allDeadLetters() {
    const letters = cloud.queue(deadLetters.queue).all();
    return letters.map(({ body, attributes }) => ({ body, ...textsOf(attributes) }));
  }

  /** Returns the names of the errors for which messages were deferred so far. */
  function deferrals(): readonly string[] {
    const logged = lines.map(line => JSON.parse(line)).filter(([message]) => message === 'message.deferred');
    return logged.map(([, { errorName }]) => errorName);
  }
}

function textsOf(attributes: Readonly<Record<string, MessageAttributeValue>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(attributes).map(([name, { StringValue }]) => [name, StringValue]));
}
