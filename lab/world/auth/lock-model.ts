import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { Change, WatchedTables } from '../watched-tables.ts';
import { clockError, type Journal, type TokenRequest, timesOf } from './journal.ts';

/** A write in the item of an e-mail address: a failure that is counted, or a success that clears them. */
export interface LockWrite extends Change {
  readonly request: TokenRequest;
  /** The MAC of the client and the address. */
  readonly mac: string;
  /** When the latest lock ends, or has ended, that stood before the write. */
  readonly lockEnd: number;
  readonly kind: 'failure' | 'success';
}

/** The failures of a client against an address that count, by an item. */
export interface Failures {
  readonly total: number;
  readonly base: number;
  readonly last: number;
  readonly counted: number;
}

/** Says when which lock stood, by what was written and the rule as the contract has it. */
export type LockModel = ReturnType<typeof makeLockModel>;

/** Makes the model of a world that has ended. */
export function makeLockModel(watched: WatchedTables, journal: Journal) {
  const writes = watched.writesOf('Lockouts').flatMap(change => {
    const request = journal.authorOf(change);
    return request && String(change.key.pk).startsWith('lock#') ? (lockWriteOf(change, request) ?? []) : [];
  });
  const macs = new Map(writes.map(({ request, mac }) => [pairOf(request), mac]));
  const keys = new Map(writes.map(({ request, key }) => [request.form.username, key]));
  const firstWrites = new Map(writes.map(({ request, at }) => [request, at] as const).toReversed());
  return { writes, lockOf };

  /**
   * Returns whether a lock stood while a login was under way: `always` until its own first write, which may clear it, `never` until its
   * end, or at some moment.
   */
  function lockOf(request: TokenRequest): 'always' | 'never' | 'sometimes' {
    const key = keys.get(request.form.username);
    if (!key) return 'never';
    const [from, to] = timesOf(request);
    const spans = watched.versionsWithin('Lockouts', key, from, to).map(({ item, ...span }) => {
      const [begin, until] = [Math.max(span.from, from), Math.min(span.until, to)];
      return { begin, until, end: lockEnd(item, macs.get(pairOf(request)), begin) };
    });
    // A failure that a throttled store counts late may begin a lock that has ended: it stood while the login was under way.
    if (spans.every(({ end }) => end + clockError < from)) return 'never';
    const firstWrite = firstWrites.get(request) ?? to;
    const before = spans.filter(({ begin }) => begin < firstWrite);
    return before.every(({ until, end }) => end - clockError > Math.min(until, firstWrite)) ? 'always' : 'sometimes';
  }
}

/** Returns the failures of a client in an item. */
export function failuresIn(item: Item | undefined, mac: string): Failures {
  const [total, base, last] = ['total', 'base', 'last'].map(name => Number(item?.[`${name}_${mac}`] ?? 0));
  return { total: total ?? 0, base: base ?? 0, last: last ?? 0, counted: (total ?? 0) - (base ?? 0) };
}

/** Failures count for a day after the last one, in milliseconds. */
export const day = 86_400_000;

function pairOf({ form }: TokenRequest): string {
  return `${form.client_id} ${form.username}`;
}

function lockWriteOf(change: Change, request: TokenRequest): LockWrite | undefined {
  const { before = {}, item: after = {} } = change;
  const changed = Object.keys(after).filter(name => after[name] !== before[name]);
  const macIn = (prefix: string) => changed.find(name => name.startsWith(prefix))?.slice(prefix.length);
  const failed = macIn('total_');
  const mac = failed ?? macIn('logins_') ?? macIn('base_');
  if (mac === undefined) return undefined;
  const kind = failed === undefined ? 'success' : 'failure';
  return { ...change, request, mac, kind, lockEnd: lockEnd(before, mac, change.at) };
}

/** Returns when the locks end that an item stands for: the client's own, from its fifth failure on, and the one of a sum of fifty. */
function lockEnd(item: Item | undefined, mac: string | undefined, moment: number): number {
  const all = Object.keys(item ?? {}).filter(name => name.startsWith('total_'));
  const shares = all.map(name => {
    const { counted, last } = failuresIn(item, name.slice('total_'.length));
    return last + day <= moment ? 0 : Math.min(counted, 10);
  });
  const own = mac === undefined ? { counted: 0, last: 0 } : failuresIn(item, mac);
  const sum = shares.reduce((total, share) => total + share, 0);
  return Math.max(own.last + lockTime(own.counted - 5), Number(item?.sharedAt ?? 0) + lockTime(sum - 50));
}

/** Returns the length of the lock after `beyond` failures more than the first lock needs, in milliseconds. It doubles with each. */
function lockTime(beyond: number): number {
  return beyond < 0 ? Number.NEGATIVE_INFINITY : Math.min(1_000 * 2 ** beyond, 15 * 60_000);
}
