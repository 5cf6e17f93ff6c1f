import type { Log } from '../../../lambdas/platform/log.ts';
import { makeRandom } from '../../../tools/support/random.ts';
import { maxOverlap } from '../invariants/slow-lane.ts';
import type { ReceiverSide } from '../process-runtime.ts';
import { second } from '../times.ts';
import type { Waits } from './extra-waits.ts';
import { eventsOf, hostOf, type Period, type Tenant } from './tenant.ts';

/** Creates the tenants' receivers, which record the wait of each POST. `now` returns the time in milliseconds from the start. */
export function makeTenantReceivers(tenants: readonly Tenant[], period: Period, seed: number, now: () => number) {
  const random = makeRandom(seed);
  const events = new Map(
    eventsOf(tenants).map(event => [
      event.publication.deliveryId,
      { ...event, posts: 0, postedAt: Number.NEGATIVE_INFINITY, retryDueAt: undefined as number | undefined },
    ]),
  );
  const tenantOf = new Map(tenants.map(tenant => [hostOf(tenant), tenant]));
  const slowAttempts = new Map<string, { from: number; until: number }[]>();
  const waits: Record<Tenant['role'], Record<keyof Waits, number[]>> = {
    healthy: { first: [], retries: [] },
    bystander: { first: [], retries: [] },
    attacker: { first: [], retries: [] },
  };
  let posts = 0;
  let duplicatePosts = 0;
  let slowLanePosts = 0;
  const side = { handlePost, resolutionMsOf } satisfies ReceiverSide;
  return {
    side,
    events,
    logOf,
    waits: waitsUntilNow,
    maxInFlight: () => Math.max(0, ...[...slowAttempts.values()].map(maxOverlap)),
    posts: () => posts,
    duplicatePosts: () => duplicatePosts,
    slowLanePosts: () => slowLanePosts,
  };

  function handlePost(
    ...[deliveryId, { functionName }]: Parameters<ReceiverSide['handlePost']>
  ): ReturnType<ReceiverSide['handlePost']> {
    const event = events.get(deliveryId);
    if (!event) throw new Error(`A POST arrived for an unknown event (${deliveryId}).`);
    posts += 1;
    event.posts += 1;
    if (functionName === 'deliver-slow') slowLanePosts += 1;
    if (now() - event.postedAt < second) duplicatePosts += 1;
    event.postedAt = now();
    recordWait(event);
    const attempt = { attempt: event.posts, number: event.number };
    const { responseMs, isSuccess } = event.tenant.behave(random, attempt, now());
    event.retryDueAt = isSuccess ? undefined : now() + responseMs + firstRetry;
    return { status: isSuccess ? 200 : 500, afterMs: responseMs, responseBody: '' };
  }

  function resolutionMsOf(host: string): number {
    return tenantOf.get(host)?.resolutionMs ?? 0;
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

  function recordWait({ tenant, dueAt, posts: attempt, retryDueAt }: TenantPosts): void {
    if (attempt === 1) addWait(tenant, 'first', dueAt);
    if (attempt === 2 && retryDueAt !== undefined) addWait(tenant, 'retries', retryDueAt);
  }

  function addWait({ role }: Tenant, kind: keyof Waits, dueAt: number): void {
    if (dueAt >= period.from && dueAt < period.until) waits[role][kind].push(Math.max(0, now() - dueAt));
  }

  /** Returns the waits so far. An event or retry without a POST has waited until now. */
  function waitsUntilNow(): Readonly<Record<Tenant['role'], Waits>> {
    for (const { tenant, dueAt, posts: attempts, retryDueAt } of events.values()) {
      if (attempts === 0) addWait(tenant, 'first', dueAt);
      if (attempts === 1 && retryDueAt !== undefined) addWait(tenant, 'retries', retryDueAt);
    }
    return waits;
  }
}

interface TenantPosts {
  readonly tenant: Tenant;
  readonly dueAt: number;
  readonly posts: number;
  readonly retryDueAt: number | undefined;
}

/** The maximum delay of the first retry, in milliseconds. */
const firstRetry = 5 * second;
