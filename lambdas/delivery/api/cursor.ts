/** Returns the cursor for the page that starts after this sort key of the `byWebhook` index. */
export function encodeCursor(listKey: string): string {
  return Buffer.from(listKey).toString('base64url');
}

/**
 * Returns the sort key in a cursor, or `undefined` if the cursor is malformed. A cursor is neither secret nor signed, because it only
 * marks a position in the caller's own list.
 */
export function decodeCursor(text: string): string | undefined {
  const listKey = Buffer.from(text, 'base64url').toString('latin1');
  return listKeyPattern.test(listKey) && encodeCursor(listKey) === text ? listKey : undefined;
}

/** Returns the id of the delivery at a list position. */
export function deliveryIdIn(listKey: string): string {
  return listKey.slice(listKey.indexOf('#') + 1);
}

const listKeyPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#(?:evt|teste)_[A-Za-z0-9_-]{22,27}$/;
