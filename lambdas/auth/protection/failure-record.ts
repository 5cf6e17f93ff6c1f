import * as z from 'zod/mini';
import type { Item } from '../../platform/dynamo.ts';

/** Failures are forgotten this long after the last one of their client, in milliseconds. */
export const memory = 24 * 60 * 60_000;

/** What the failures against one e-mail address amount to for one client, as they were read. */
export interface FailureRecord {
  readonly isLocked: boolean;
  /** Failures of the client that are not forgotten. */
  readonly failures: number;
  /** All failures of the client that were ever counted: it never falls while the item lives. */
  readonly total: number;
  /** What `total` was when the client's failures were last forgotten. */
  readonly base: number;
  /** Whether what was counted for the client is too old to matter. */
  readonly isStale: boolean;
  /** Whether another failure of the client adds to the sum. */
  readonly isSharing: boolean;
  readonly sum: number;
  readonly totalOfAll: number;
  /** The `total` that a lock needs which has not fallen yet. */
  readonly nextLock: number;
  /** No lock of the sum has fallen while `totalOfAll` is below this. */
  readonly nextLockOfAll: number;
  /** Other clients whose failures are too old to matter. */
  readonly staleClients: readonly string[];
}

/** The attributes that count one client's failures. */
export interface FailureAttributes {
  readonly total: string;
  readonly base: string;
  readonly last: string;
}

/** The names under which the failures of a client are counted in the item. */
export function failureAttributes(client: string): FailureAttributes {
  return { total: `${totalPrefix}${client}`, base: `base_${client}`, last: `last_${client}` };
}

/** Reads what was counted, for one client and at this moment. */
export function readFailures(item: Item | undefined, client: string, now: number): FailureRecord {
  const counted = commonSchema.parse(item ?? {});
  const own = countOf(item, client, now);
  const others = Object.keys(item ?? {})
    .filter(name => name.startsWith(totalPrefix) && name !== failureAttributes(client).total)
    .map(name => name.slice(totalPrefix.length));
  const counts = others.map(other => countOf(item, other, now).failures);
  const sum = [own.failures, ...counts].reduce((added, failures) => added + Math.min(failures, share), 0);
  const lockEnds = [
    own.last + lockLength(own.failures, thresholds.oneClient),
    counted.sharedAt + lockLength(sum, thresholds.allClients),
  ];
  return {
    ...own,
    isLocked: Math.max(...lockEnds) > now,
    isSharing: own.failures < share,
    sum,
    totalOfAll: counted.totalOfAll,
    nextLock: own.total + missing(own.failures, thresholds.oneClient),
    nextLockOfAll: counted.totalOfAll + missing(sum, thresholds.allClients),
    staleClients: others.filter(other => countOf(item, other, now).isStale),
  };
}

/** Whether a lock fell between two readings, over by now or not. */
export function hasLockFallen(before: FailureRecord, after: FailureRecord): boolean {
  const isOwn = after.base === before.base && after.total >= before.nextLock;
  const isOfAll = after.sum > before.sum && after.sum >= thresholds.allClients;
  return after.isLocked || isOwn || isOfAll;
}

const totalPrefix = 'total_';

const count = z._default(z.number(), 0);
const commonSchema = z.object({ totalOfAll: count, sharedAt: count });

function countOf(item: Item | undefined, client: string, now: number): Count {
  const names = failureAttributes(client);
  const [total, base, last] = [names.total, names.base, names.last].map(name => count.parse(item?.[name]));
  if (total === undefined || base === undefined || last === undefined) throw new Error('Three counts were read.');
  const isStale = total > 0 && last + memory <= now;
  if (isStale) return { failures: 0, total, base: total, last, isStale };
  return { failures: Math.max(total - base, 0), total, base, last, isStale };
}

/** So much of one client's failures adds to the sum: a burst through one client must not lock a user out of the others. */
const share = 10;

/** How long the n-th failure locks, in milliseconds: not at all below the threshold, from there 1 s doubling to 15 min. */
function lockLength(failures: number, threshold: number): number {
  return failures < threshold ? 0 : Math.min(firstLock * 2 ** (failures - threshold), longestLock);
}

/** The failure that locks first: of one client, and of the sum over all clients. */
const thresholds = { oneClient: 5, allClients: 50 } as const;

/** From the threshold on, every failure locks. */
function missing(failures: number, threshold: number): number {
  return Math.max(threshold - failures, 1);
}

interface Count {
  readonly failures: number;
  readonly total: number;
  readonly base: number;
  readonly last: number;
  readonly isStale: boolean;
}

const firstLock = 1_000;
const longestLock = 15 * 60_000;
