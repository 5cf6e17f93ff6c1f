import type { Log } from '../../../lambdas/platform/log.ts';
import { makeRandom } from '../../../tools/support/random.ts';
import { maxAtOnce } from '../invariants/slow-lane.ts';
import type { ReceiverSide } from '../process-runtime.ts';
import { second } from '../times.ts';
import type { Waits } from './extra-waits.ts';
import { eventsOf, hostOf, type Period, type Tenant } from './tenant.ts';

/** Creates the receivers of tenants. They record the wait of each POST. `now` returns the time in milliseconds from the start. */
export function makeTenantReceivers(tenants: readonly Tenant[], period: Period, seed: number, now: () => number) {
  const random = makeRandom(seed);
  const events = new Map(
    eventsOf(tenants).map(event => [
      event.publication.deliveryId,
      { ...event, posts: 0, postedAt: Number.NEGATIVE_INFINITY, retryDue: undefined as number | undefined },
    ]),
  );
  const tenantOf = new Map(tenants.map(tenant => [hostOf(tenant), tenant]));
  const slowAttempts = new Map<string, { from: number; until: number }[]>();
  const waits: Record<Tenant['part'], Record<keyof Waits, number[]>> = {
    innocent: { first: [], retries: [] },
    bystander: { first: [], retries: [] },
    attacker: { first: [], retries: [] },
  };
  let posts = 0;
  let postedTwice = 0;
  let slowLanePosts = 0;
  const side = { take, resolvesAfter } satisfies ReceiverSide;
  return {
    side,
    events,
    logOf,
    waits: waitsUntilNow,
    maxInFlight: () => Math.max(0, ...[...slowAttempts.values()].map(maxAtOnce)),
    posts: () => posts,
    postedTwice: () => postedTwice,
    slowLanePosts: () => slowLanePosts,
  };

  function take(...[deliveryId, { functionName }]: Parameters<ReceiverSide['take']>): ReturnType<ReceiverSide['take']> {
    const event = events.get(deliveryId);
    if (!event) throw new Error(`A receiver got a POST of an unknown event (${deliveryId}).`);
    posts += 1;
    event.posts += 1;
    if (functionName === 'deliver-slow') slowLanePosts += 1;
    if (now() - event.postedAt < second) postedTwice += 1;
    event.postedAt = now();
    recordWait(event);
    const attempt = { attempt: event.posts, number: event.number };
    const { answers, isSuccess } = event.tenant.behave(random, attempt, now());
    event.retryDue = isSuccess ? undefined : now() + answers + firstRetry;
    return { status: isSuccess ? 200 : 500, afterMs: answers, answer: '' };
  }

  function resolvesAfter(host: string): number {
    return tenantOf.get(host)?.resolves ?? 0;
  }

  /** Returns a log that records the slow lane's attempts. The duration of an attempt includes the resolution of the host name. */
  function logOf(functionName: string): Log {
    return { info: record, warn: record, error: record };

    function record(...[message, { host, durationMs } = {}]: Parameters<Log['info']>): void {
      if (functionName !== 'deliver-slow' || message !== 'delivery.attempt') return;
      const attempts = slowAttempts.get(String(host)) ?? [];
      slowAttempts.set(String(host), attempts);
      attempts.push({ from: now() - Number(durationMs), until: now() });
    }
  }

  function recordWait({ tenant, due, posts: attempt, retryDue }: TenantPosts): void {
    if (attempt === 1) addWait(tenant, 'first', due);
    if (attempt === 2 && retryDue !== undefined) addWait(tenant, 'retries', retryDue);
  }

  function addWait({ part }: Tenant, kind: keyof Waits, due: number): void {
    if (due >= period.from && due < period.until) waits[part][kind].push(Math.max(0, now() - due));
  }

  /** Returns the waits so far. An event or retry without a POST has waited until now. */
  function waitsUntilNow(): Readonly<Record<Tenant['part'], Waits>> {
    for (const { tenant, due, posts: attempts, retryDue } of events.values()) {
      if (attempts === 0) addWait(tenant, 'first', due);
      if (attempts === 1 && retryDue !== undefined) addWait(tenant, 'retries', retryDue);
    }
    return waits;
  }
}

interface TenantPosts {
  readonly tenant: Tenant;
  readonly due: number;
  readonly posts: number;
  readonly retryDue: number | undefined;
}

/** The maximum delay of the first retry, in milliseconds. */
const firstRetry = 5 * second;
