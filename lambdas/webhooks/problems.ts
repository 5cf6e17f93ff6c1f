import { Problem } from '../api/problem.ts';
import type { RequestContext } from '../api/route.ts';
import { type EventName, isEventName } from './webhook.ts';

/** The event name in the path. @throws {Problem} 404 for an unknown one: no account has a webhook for it. */
export function requireEventName({ path: { evento: eventName = '' } }: RequestContext): EventName {
  if (!isEventName(eventName)) throw webhookNotFound();
  return eventName;
}

/** The refusal of an event that the account has no webhook for, and of an unknown event name. */
export function webhookNotFound(): Problem {
  return new Problem(404, 'webhook_not_found', 'There is no webhook for this event.');
}

/** The refusal of what an account may not do while an operator suspends the webhook. */
export function suspendedByOperator(): Problem {
  return new Problem(409, 'suspended_by_operator', 'An operator suspended this webhook: only an operator ends that.');
}

/** The refusal of what requires an active webhook. */
export function webhookSuspended(): Problem {
  return new Problem(409, 'webhook_suspended', 'The webhook is suspended: reactivate it first.');
}
