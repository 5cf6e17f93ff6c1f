import { type EventName, isEventName } from '../../../lambdas/webhooks/webhook.ts';
import { Refusal } from '../views.ts';

/** Returns the name of an event, as a page was asked for it. @throws {Refusal} where there is no such event. */
export function eventName(name: string): EventName {
  if (!isEventName(name)) throw new Refusal(`There is no event "${name}".`);
  return name;
}
