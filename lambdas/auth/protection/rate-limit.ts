import type { ItemKey, StoreParts } from '../../platform/aws/dynamo.ts';
import { type FixedWindow, makeFixedWindow } from '../../platform/fixed-window.ts';

/** A limit of failed client authentications per minute, judged and counted in one, given the item that the caller read. */
export type IpRateLimit = Pick<FixedWindow, 'keyOf' | 'countIfRoom'>;

/** A limit of refused passwords per minute: judged from an item that the caller reads, counted after the failure. */
export type ClientRateLimit = Pick<FixedWindow, 'keyOf' | 'secondsToWait' | 'count'>;

/** Limits the failed client authentications from an IP address. Table `Lockouts`: partition `pk`, here `ip#<IP address>`. */
export function makeIpRateLimit(settings: RateLimitSettings): IpRateLimit {
  return makeFailureLimit('ip', settings);
}

/** Limits the refused passwords of a client. Table `Lockouts`: partition `pk`, here `client#<client id>`. */
export function makeClientRateLimit(settings: RateLimitSettings): ClientRateLimit {
  return makeFailureLimit('client', settings);
}

/** Returns the key of the count of a client's refused passwords. */
export function clientLimitKey(table: string, clientId: string): ItemKey {
  return keyOf(table, 'client', clientId);
}

interface RateLimitSettings extends StoreParts {
  /** Failures per minute; successes are never counted. */
  readonly limit: number;
}

function makeFailureLimit(kind: string, { dynamo, table, now, limit }: RateLimitSettings) {
  return makeFixedWindow({ dynamo, now, limit, keyOf: subject => keyOf(table, kind, subject) });
}

function keyOf(table: string, kind: string, subject: string): ItemKey {
  return { table, key: { pk: `${kind}#${subject}` } };
}
