import { type EventName, isEventName } from '../../../lambdas/webhooks/webhook.ts';
import { CliError } from '../../stage/operator.ts';

/** Returns the name of an event, as a page was asked for it. @throws {CliError} where there is no such event. */
export function eventName(name: string): EventName {
  if (!isEventName(name)) throw new CliError(`There is no event "${name}".`);
  return name;
}
