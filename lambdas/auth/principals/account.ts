/** The account for smoke tests. Each test registers a webhook in this account and deletes the webhook afterwards. */
export const smokeAccount = '_smoke';

/** Returns whether a string is a well-formed account id. */
export function isAccountId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}

/**
 * Returns whether an account is reserved for Emissor itself. Operators cannot use it for clients, users or events, because smoke tests
 * delete its webhooks. `parseEventMessage` rejects events for the account unless they are smoke test events.
 */
export function isReservedAccount(accountId: string): boolean {
  return accountId === smokeAccount;
}
