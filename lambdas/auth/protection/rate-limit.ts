import type { ItemKey, StoreParts } from '../../platform/aws/dynamo.ts';
import { type FixedWindow, makeFixedWindow } from '../../platform/fixed-window.ts';

/** A limit on rejected passwords per minute. The caller reads the client's item before a login and counts a rejected password. */
export type ClientRateLimit = Pick<FixedWindow, 'keyOf' | 'secondsToWait' | 'count'>;

/** Creates the limit on a client's rejected passwords. Table `Lockouts`: partition key `client#<client id>`, sort key `refused`. */
export function makeClientRateLimit({
  dynamo,
  table,
  now,
  limit,
}: StoreParts & {
  /** The maximum number of failures per minute. */
  readonly limit: number;
}): ClientRateLimit {
  return makeFixedWindow({ dynamo, now, limit, keyOf: clientId => clientLimitKey(table, clientId) });
}

/** Returns the key of a client's rejected-password count. */
export function clientLimitKey(table: string, clientId: string): ItemKey {
  return { table, key: { pk: `client#${clientId}`, sk: 'refused' } };
}
