/** The account of smoke tests. Each test registers a webhook of the account and deletes it afterwards. */
export const smokeAccount = '_smoke';

/** Returns whether a string is a well-formed account id. */
export function isAccountId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}

/**
 * Returns whether an account is reserved for Emissor itself. Operators cannot assign clients, users or events to it, because smoke tests
 * delete its webhooks. `parseEventMessage` rejects events for it that do not have the form of a test event.
 */
export function isReservedAccount(accountId: string): boolean {
  return accountId === smokeAccount;
}
