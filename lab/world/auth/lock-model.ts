import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { clockError } from '../times.ts';
import type { Change, WatchedTables } from '../watched-tables.ts';
import { type Journal, type TokenRequest, timesOf } from './journal.ts';
import { clientFailureLimit } from './token-stage.ts';

/** A write in the item of an e-mail address: a failure that is counted, or a success that clears them. */
export interface LockWrite extends Change {
  readonly request: TokenRequest;
  /** The MAC of the client and the address. */
  readonly mac: string;
  /** When the latest lock ends, or has ended, that stood before the write. */
  readonly lockEnd: number;
  readonly kind: 'failure' | 'success';
  /** The client's failures that count after it, by the rule. */
  readonly counted: number;
}

/** Says when which lock stood, by the failures and successes that were written and the rule as the contract has it. */
export type LockModel = ReturnType<typeof makeLockModel>;

/** Makes the model of a world that has ended. */
export function makeLockModel(watched: WatchedTables, journal: Journal) {
  const writes: LockWrite[] = [];
  const latest = new Map<unknown, Failures>();
  const failuresOf = new Map<Item | undefined, Failures>();
  for (const change of watched.writesOf('Lockouts')) if (String(change.key.pk).startsWith('lock#')) follow(change);
  const macs = new Map(writes.map(({ request, mac }) => [pairOf(request), mac]));
  const keys = new Map(writes.map(({ request, key }) => [request.form.username, key]));
  const firstWrites = new Map(writes.map(({ request, at }) => [request, at] as const).toReversed());
  return { writes, lockOf, limitOf };

  /** Takes a write into account. Those of the set-up are too old to count. An unlocked user has no item. */
  function follow(change: Change): void {
    const { at, before, item, key } = change;
    const failures: Failures = new Map(item && latest.get(key.pk));
    const request = journal.authorOf(change);
    const write = request && writeIn(change);
    if (request && write) {
      const { mac, kind } = write;
      const end = lockEnd(before, failures, mac, at);
      const { moments = [], last = 0 } = failures.get(mac) ?? {};
      const beside = moments.filter(moment => moment >= request.sentAt).slice(0, countIn(item, mac));
      const counted = kind === 'success' ? beside : [...(last + day > at ? moments : []), at];
      failures.set(mac, { moments: counted, last: Number(item?.[`last_${mac}`] ?? 0) });
      writes.push({ ...change, request, ...write, lockEnd: end, counted: counted.length });
    }
    latest.set(key.pk, failures);
    failuresOf.set(item, failures);
  }

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
      return { begin, until, end: lockEnd(item, failuresOf.get(item), macs.get(pairOf(request)), begin) };
    });
    // A failure that a throttled store counts late may begin a lock that has ended: it fell while the login was under way.
    const hasFallen = spans.some(({ end }, index) => end > (spans[index - 1]?.end ?? end));
    if (!hasFallen && spans.every(({ end }) => end + clockError < from)) return 'never';
    const firstWrite = firstWrites.get(request) ?? to;
    const before = spans.filter(({ begin }) => begin < firstWrite);
    return before.every(({ until, end }) => end - clockError > Math.min(until, firstWrite)) ? 'always' : 'sometimes';
  }

  /** Returns whether a client had too many refused passwords in its minute while a login through it was under way. */
  function limitOf(request: TokenRequest): 'always' | 'never' | 'sometimes' {
    const { form, sentAt, endedAt = sentAt } = request;
    const reached = watched
      .versionsWithin('Lockouts', { pk: `client#${form.client_id}` }, sentAt, endedAt)
      .flatMap(({ item }) =>
        timesOf(request).map(now => Number(item?.count) >= clientFailureLimit && Number(item?.endsAt) > now),
      );
    if (!reached.includes(true)) return 'never';
    return reached.includes(false) ? 'sometimes' : 'always';
  }
}

/** Returns the failures of a client that an item counts. */
export function countIn(item: Item | undefined, mac: string): number {
  return Number(item?.[`total_${mac}`] ?? 0) - Number(item?.[`base_${mac}`] ?? 0);
}

/** The failures against an address that count, by client: when each was written, and the moment that the last one is of. */
type Failures = Map<string, { readonly moments: readonly number[]; readonly last: number }>;

/** Failures count for a day after the last one, in milliseconds. */
const day = 86_400_000;

function pairOf({ form }: TokenRequest): string {
  return `${form.client_id} ${form.username}`;
}

/** Returns what a write is; nothing where it only removes what is too old to count. */
function writeIn({ before = {}, item: after = {} }: Change): Pick<LockWrite, 'mac' | 'kind'> | undefined {
  const changed = Object.keys(after).filter(name => after[name] !== before[name]);
  const macIn = (prefix: string) => changed.find(name => name.startsWith(prefix))?.slice(prefix.length);
  const failed = macIn('total_');
  const mac = failed ?? macIn('base_');
  return mac === undefined ? undefined : { mac, kind: failed === undefined ? 'success' : 'failure' };
}

/** Returns when the locks end that stand by some failures: the client's own, from its fifth failure on, and the one of a sum of fifty. */
function lockEnd(item: Item | undefined, failures: Failures = new Map(), mac = '', moment = 0): number {
  const shares = [...failures.values()].map(({ moments, last }) =>
    last + day <= moment ? 0 : Math.min(moments.length, 10),
  );
  const { moments = [], last = 0 } = failures.get(mac) ?? {};
  const sum = shares.reduce((total, share) => total + share, 0);
  return Math.max(last + lockTime(moments.length - 5), Number(item?.sharedAt ?? 0) + lockTime(sum - 50));
}

/** Returns the length of the lock after `beyond` failures more than the first lock needs, in milliseconds. It doubles with each. */
function lockTime(beyond: number): number {
  return beyond < 0 ? Number.NEGATIVE_INFINITY : Math.min(1_000 * 2 ** beyond, 15 * 60_000);
}
