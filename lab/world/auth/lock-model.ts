import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { clientLimitKey } from '../../../lambdas/auth/protection/rate-limit.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { clockError, day } from '../times.ts';
import type { Change, WatchedTables } from '../watched-tables.ts';
import { type Journal, type TokenRequest, timesOf } from './journal.ts';
import { clientFailureLimit } from './token-stage.ts';

/** A write to an address's failure count for a client. It adds a failure, or clears the count after a success. */
export interface LockWrite extends Change {
  readonly request: TokenRequest;
  readonly kind: 'failure' | 'success';
  /** The expected failure count after the write. */
  readonly expectedFailures: number;
}

/** The expected locks of addresses at clients, computed from the recorded failures and successes. */
export type LockModel = ReturnType<typeof makeLockModel>;

/** Creates the lock model for a finished world. */
export function makeLockModel(watched: WatchedTables, journal: Journal) {
  const writes: LockWrite[] = [];
  const counts = new Map<string, Count>();
  for (const change of watched.writesOf('Lockouts')) if (String(change.key.pk).startsWith('lock#')) applyWrite(change);
  const keys = new Map(writes.map(({ request, key }) => [pairOf(request), key]));
  const firstWrites = new Map(writes.map(({ request, at }) => [request, at] as const).toReversed());
  return { writes, lockOf, limitOf };

  /** Applies a write to the model. Failures from the set-up do not belong to a request and are too old to count. */
  function applyWrite(change: Change): void {
    const { at, item, key, command } = change;
    const name = `${key.pk} ${key.sk}`;
    const request = journal.requestOf(change);
    const { failures, last } = counts.get(name) ?? { failures: 0, last: 0 };
    const kind = command instanceof DeleteCommand ? 'success' : 'failure';
    const isCounted = kind === 'failure' && request !== undefined;
    const expectedFailures = isCounted ? 1 + (last + day > at ? failures : 0) : 0;
    counts.set(name, { failures: expectedFailures, last: Number(item?.lastFailureAt ?? 0) });
    if (request) writes.push({ ...change, request, kind, expectedFailures });
  }

  /**
   * Returns `always` if a lock was active until the login's first write, which may clear the lock. Returns `never` if no
   * lock was active during the login. Otherwise returns `sometimes`.
   */
  function lockOf(request: TokenRequest): 'always' | 'never' | 'sometimes' {
    const key = keys.get(pairOf(request));
    if (!key) return 'never';
    const [from, to] = timesOf(request);
    const spans = watched
      .versionsWithin('Lockouts', key, from, to)
      .map(span => ({ start: Math.max(span.from, from), until: Math.min(span.until, to), end: lockEnd(span.item) }));
    // A throttled store may record a failure after the end of its lock. Such a lock still counts as started during the login.
    const hasStarted = spans.some(({ end }, index) => end > (spans[index - 1]?.end ?? end));
    if (!hasStarted && spans.every(({ end }) => end + clockError < from)) return 'never';
    const firstWrite = firstWrites.get(request) ?? to;
    const before = spans.filter(({ start }) => start < firstWrite);
    return before.every(({ until, end }) => end - clockError > Math.min(until, firstWrite)) ? 'always' : 'sometimes';
  }

  /** Returns whether the client was at its limit of rejected passwords during all, part or none of the login. */
  function limitOf(request: TokenRequest): 'always' | 'never' | 'sometimes' {
    const { form, sentAt, endedAt = sentAt } = request;
    const limitStates = watched
      .versionsWithin('Lockouts', clientLimitKey('', form.client_id ?? '').key, sentAt, endedAt)
      .flatMap(({ item }) =>
        timesOf(request).map(now => Number(item?.count) >= clientFailureLimit && Number(item?.endsAt) > now),
      );
    if (!limitStates.includes(true)) return 'never';
    return limitStates.includes(false) ? 'sometimes' : 'always';
  }
}

/** Returns the end time of an item's lock. The fifth failure locks for 1 s. Each later failure doubles the time, up to 15 minutes. */
export function lockEnd(item: Item | undefined): number {
  const extraFailures = Number(item?.failures ?? 0) - 5;
  if (extraFailures < 0) return Number.NEGATIVE_INFINITY;
  return Number(item?.lastFailureAt) + Math.min(1_000 * 2 ** extraFailures, 15 * 60_000);
}

/** The expected failure count, and the time of the last failure. */
interface Count {
  readonly failures: number;
  readonly last: number;
}

function pairOf({ form }: TokenRequest): string {
  return `${form.client_id} ${form.username}`;
}
