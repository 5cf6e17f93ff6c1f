import { Problem } from '../api/problem.ts';
import type { RequestContext } from '../api/route.ts';
import { type EventName, isEventName } from './webhook.ts';

/** The event that the path names. @throws {Problem} when it is none: no account has a webhook for it. */
export function eventIn({ path: { evento: eventName = '' } }: RequestContext): EventName {
  if (!isEventName(eventName)) throw webhookNotFound();
  return eventName;
}

/** The refusal of an event that the account has no webhook for; unknown event names are no different. */
export function webhookNotFound(): Problem {
  return new Problem(404, 'webhook_not_found', 'There is no webhook for this event.');
}

/** The refusal of what no account may do with a webhook that an operator suspended. */
export function suspendedByOperator(): Problem {
  return new Problem(409, 'suspended_by_operator', 'An operator suspended this webhook: only an operator ends that.');
}
