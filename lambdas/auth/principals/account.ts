/** The account of smoke tests. Each test registers and deletes its webhook. */
export const smokeAccount = '_smoke';

/** Returns whether a text is a possible account id. */
export function isAccountId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}

/**
 * Returns whether an account is reserved for Emissor itself. Operators cannot assign clients, users or events to it, because
 * a smoke test deletes the webhooks of its account. Events for it are rejected, unless they have the form of a test event
 * (`parseEventMessage`).
 */
export function isReservedAccount(accountId: string): boolean {
  return accountId === smokeAccount;
}
