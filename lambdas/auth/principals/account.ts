/** The account of smoke tests. Each test registers and deletes its webhook. */
export const smokeAccount = '_smoke';

/** Returns whether a text is a possible account id. */
export function isAccountId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}

/**
 * Returns whether an account is reserved for Emissor itself. Operators can assign no client, user or event to it, because a
 * smoke test deletes the webhook that it finds there; events that publishers send for it are refused, unless they have the form of a test's own
 * (`parseEventMessage`). This is the one place that says which accounts those are.
 */
export function isReservedAccount(accountId: string): boolean {
  return accountId === smokeAccount;
}
