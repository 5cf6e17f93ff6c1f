import { isAccountId } from '../../../lambdas/auth/principals/account.ts';
import { type EventName, isEventName } from '../../../lambdas/webhooks/webhook.ts';
import { CliError } from '../../stage/operator.ts';

/** Returns the name of an event, as a page was asked for it. @throws {CliError} where there is no such event. */
export function eventName(name: string): EventName {
  if (!isEventName(name)) throw new CliError(`There is no event "${name}".`);
  return name;
}

/** Returns the webhook that a page was asked for. @throws {CliError} where no account, or no event, can be named so. */
export function registrationOf({ account, event }: { readonly account: string; readonly event: string }) {
  if (!isAccountId(account)) throw new CliError(`No account can be named "${account}".`);
  return { account, event: eventName(event) };
}
