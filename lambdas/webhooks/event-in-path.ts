import type { RequestContext } from '../api/route.ts';
import { type EventName, isEventName } from './webhook.ts';

/** Returns the event name in the path. @throws {Problem} 404 for an unknown event. */
export function requireEventName({ path, makeProblem }: RequestContext<'webhook_not_found'>): EventName {
  const { evento: eventName = '' } = path;
  if (!isEventName(eventName)) throw makeProblem('webhook_not_found');
  return eventName;
}
