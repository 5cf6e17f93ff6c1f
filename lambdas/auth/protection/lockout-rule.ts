import * as z from 'zod/mini';
import type { Item } from '../../platform/aws/dynamo.ts';

/** The login lockout counts a client's failures until this long after its last one, in milliseconds. */
export const failureLifetime = 24 * 60 * 60_000;

/** The failures against one e-mail address, as they were read for one client: the login lockout follows from them. */
export interface FailureRecord {
  readonly isLocked: boolean;
  /** Failures of the client that still count. */
  readonly failures: number;
  /** All failures of the client that were ever counted: it never falls while the item exists. */
  readonly total: number;
  /** The value of `total` when the client's failures were last reset. */
  readonly base: number;
  /** The moment of the client's last failure, in milliseconds since the epoch. */
  readonly last: number;
  /** True when the client's failures are too old to count. */
  readonly isStale: boolean;
  /** True when another failure of the client adds to the sum. */
  readonly isSharing: boolean;
  /** The failures of all clients, each up to its share. */
  readonly sum: number;
  readonly totalOfAll: number;
  /** The `total` at which the client's next lock begins. */
  readonly nextLock: number;
  /** While `totalOfAll` is below this, no lock of the sum begins. */
  readonly nextLockOfAll: number;
  /** Other clients whose failures are too old to count. */
  readonly staleClients: readonly string[];
}

/** The attributes that count one client's failures. */
export interface FailureAttributes {
  readonly total: string;
  readonly base: string;
  readonly last: string;
  readonly latest: string;
}

/** Returns the names of the attributes that count a client's failures. */
export function failureAttributes(client: string): FailureAttributes {
  return {
    total: `${totalPrefix}${client}`,
    base: `base_${client}`,
    last: `last_${client}`,
    latest: `latest_${client}`,
  };
}

/** Reads the failures of an item for one client, as of `now`. */
export function parseFailures(item: Item | undefined, client: string, now: number): FailureRecord {
  const counted = commonSchema.parse(item ?? {});
  const own = countOf(item, client, now);
  const others = clientsIn(item).filter(other => other !== client);
  const sum = sumOf([own, ...others.map(other => countOf(item, other, now))]);
  const lockEnds = [
    lockEnd(own.last, own.failures, thresholds.oneClient),
    lockEnd(counted.sharedAt, sum, thresholds.allClients),
  ];
  return {
    ...own,
    isLocked: Math.max(...lockEnds) > now,
    isSharing: own.failures < share,
    sum,
    totalOfAll: counted.totalOfAll,
    nextLock: own.total + failuresToLock(own.failures, thresholds.oneClient),
    nextLockOfAll: counted.totalOfAll + failuresToLock(sum, thresholds.allClients),
    staleClients: others.filter(other => countOf(item, other, now).isStale),
  };
}

/** The failures against one e-mail address that still count, as operators are told of them. */
export interface FailureSummary {
  /** By the MAC of the client. */
  readonly clients: readonly { readonly client: string; readonly failures: number; readonly lockedUntil?: number }[];
  /** The end of the lock that stands for all clients. Milliseconds since the epoch. */
  readonly lockedUntil?: number;
}

/** Reads the failures of an item for all clients, as of `now`. A lock that has ended is none. */
export function summariseFailures(item: Item | undefined, now: number): FailureSummary {
  const counts = clientsIn(item)
    .map(client => ({ client, ...countOf(item, client, now) }))
    .filter(({ failures }) => failures > 0);
  const { sharedAt } = commonSchema.parse(item ?? {});
  return {
    clients: counts.map(({ client, failures, last }) => ({
      client,
      failures,
      ...lockUntil(lockEnd(last, failures, thresholds.oneClient), now),
    })),
    ...lockUntil(lockEnd(sharedAt, sumOf(counts), thresholds.allClients), now),
  };
}

/** Returns whether a lock began between two readings, even if it has ended by now. */
export function hasLockBegun(before: FailureRecord, after: FailureRecord): boolean {
  const isOwn = after.base === before.base ? after.total >= before.nextLock : after.failures >= thresholds.oneClient;
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
  const isStale = total > 0 && last + failureLifetime <= now;
  if (isStale) return { failures: 0, total, base: total, last, isStale };
  return { failures: Math.max(total - base, 0), total, base, last, isStale };
}

/** Returns the clients that failures were counted of. */
function clientsIn(item: Item | undefined): readonly string[] {
  const names = Object.keys(item ?? {}).filter(name => name.startsWith(totalPrefix));
  return names.map(name => name.slice(totalPrefix.length));
}

/** Returns the failures of all clients, each up to its share. */
function sumOf(counts: readonly Pick<Count, 'failures'>[]): number {
  return counts.reduce((sum, { failures }) => sum + Math.min(failures, share), 0);
}

function lockUntil(end: number, now: number): Pick<FailureSummary, 'lockedUntil'> {
  return end > now ? { lockedUntil: end } : {};
}

interface Count {
  readonly failures: number;
  readonly total: number;
  readonly base: number;
  readonly last: number;
  readonly isStale: boolean;
}

/** The most that one client adds to the sum: a burst through one client must not lock the user out of the others. */
const share = 10;

/** The number of failures at which the first lock begins: of one client, and of the sum over all clients. */
const thresholds = { oneClient: 5, allClients: 50 } as const;

/**
 * Returns when the lock ends that the n-th failure began: one that doubles from the threshold on, with a cap. Below the threshold there is
 * none, also for a clock that is behind the one which counted the failure.
 */
function lockEnd(lastFailure: number, failures: number, threshold: number): number {
  if (failures < threshold) return Number.NEGATIVE_INFINITY;
  return lastFailure + Math.min(firstLock * 2 ** (failures - threshold), longestLock);
}

const firstLock = 1_000;
const longestLock = 15 * 60_000;

/** Returns the number of further failures that begin a lock: from the threshold on, every one does. */
function failuresToLock(failures: number, threshold: number): number {
  return Math.max(threshold - failures, 1);
}
