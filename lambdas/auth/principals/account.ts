/** The account of smoke tests. Its webhook, client and user are made and removed by each test. */
export const smokeAccount = '_smoke';

/** Whether a text is a possible account id. */
export function isAccountId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}

/**
 * Whether an account is reserved for Emissor itself. Operators can give nobody a client, a user or an event of it, because a
 * smoke test removes whatever it finds there. This is the one place that says which accounts those are. A publisher that names
 * one reaches at most the receiver of a test, which looks for its own event only.
 */
export function isReservedAccount(accountId: string): boolean {
  return accountId === smokeAccount;
}
