import type { ItemKey, StoreParts } from '../../platform/aws/dynamo.ts';
import { type FixedWindow, makeFixedWindow } from '../../platform/fixed-window.ts';

/** A limit of refused passwords per minute: judged from an item that the caller reads, counted after the failure. */
export type ClientRateLimit = Pick<FixedWindow, 'keyOf' | 'secondsToWait' | 'count'>;

/** Limits the refused passwords of a client. Table `Lockouts`: partition `pk`, here `client#<client id>`, and range `sk`, here `refused`. */
export function makeClientRateLimit({
  dynamo,
  table,
  now,
  limit,
}: StoreParts & {
  /** Failures per minute; successes are never counted. */
  readonly limit: number;
}): ClientRateLimit {
  return makeFixedWindow({ dynamo, now, limit, keyOf: clientId => clientLimitKey(table, clientId) });
}

/** Returns the key of the count of a client's refused passwords. */
export function clientLimitKey(table: string, clientId: string): ItemKey {
  return { table, key: { pk: `client#${clientId}`, sk: 'refused' } };
}
