/** The cursor that leads on from a page of the history. */
export function cursorOf(next: string): string {
  return Buffer.from(next).toString('base64url');
}

/**
 * Where a cursor leads; `undefined` when it is none of ours. It is no secret and not signed: it names a place in a list,
 * and the list is always the caller's own.
 */
export function readCursor(cursor: string): string | undefined {
  const next = Buffer.from(cursor, 'base64url').toString('latin1');
  return listKey.test(next) && cursorOf(next) === cursor ? next : undefined;
}

/** A range key of index `byWebhook`. */
const listKey = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#(?:evt|teste)_[A-Za-z0-9_-]{22,27}$/;
