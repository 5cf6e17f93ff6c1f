import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { ProcessRuntime } from '@emissor/cloud/virtual';
import { composeDeliveriesApi } from '../../../lambdas/base-api/deliveries-api.composition.ts';
import { newDelivery, settled } from '../../../lambdas/delivery/delivery.ts';
import { itemFromDelivery } from '../../../lambdas/delivery/store/delivery-item.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { laneConcurrency } from '../../../lib/lane-concurrency.ts';
import { makeWorld } from '../make-world.ts';
import { makeWorldRuntime } from '../process-runtime.ts';
import type { CompletedRequest } from '../requests.ts';
import { webhookIdOf } from '../set-up.ts';
import { type Compositions, deadLetters, deliveryEnvironment, type SourceOutage } from '../stage.ts';
import { minute, second } from '../times.ts';
import type { Waits } from './extra-waits.ts';
import { concurrencyIn, type Situation } from './plan.ts';
import { accountOf, eventOf, hostOf, type Period, type Tenant, type TenantEvent } from './tenant.ts';
import { makeTenantReceivers } from './tenant-receivers.ts';

export interface TenantsRun {
  readonly situation: Situation;
  readonly seed: number;
  readonly period: Period;
  readonly tenants: readonly Tenant[];
  readonly outage?: SourceOutage;
}

export interface RunResult {
  readonly waits: Readonly<Record<Tenant['role'], Waits>>;
  /** The maximum number of in-flight attempts per webhook in the slow lane. */
  readonly maxInFlight: number;
  /** The number of POSTs by the slow lane. */
  readonly slowLanePosts: number;
  readonly deadLetters: number;
  readonly posts: number;
  /** The number of POSTs sent less than 1 s after another POST of the same delivery. */
  readonly duplicatePosts: number;
  /** The number of pending deliveries at the end. */
  readonly pending: number;
  /** The CPU time, in seconds. */
  readonly cpu: number;
}

/** Changes the runtime of a process. Tests use it to check that a run detects a fault. */
export type Alter = (runtime: ProcessRuntime) => ProcessRuntime;

/** Runs tenants in a world without faults. */
export async function runTenants(
  { situation, seed, period, tenants, outage }: TenantsRun,
  alter: Alter = runtime => runtime,
): Promise<RunResult> {
  const usageBefore = process.threadCpuUsage();
  let startedAt = 0;
  const now = () => world.cloud.now() - startedAt;
  const receivers = makeTenantReceivers(tenants, period, seed, now);
  const events = [...receivers.events.values()];
  const world = makeWorld(seed, 'none', productLimits, {
    accounts: tenants.map(accountOf),
    publications: events.filter(({ tenant }) => !tenant.isReplayed).map(({ publication }) => publication),
    queues: { isFair: situation.isFair },
    cloud: { concurrency: situation.concurrency },
    stage: {
      concurrencyOf: concurrencyIn(situation),
      values: {
        slowConcurrency: laneConcurrency(situation.concurrency ?? 1_000).slowConcurrency,
        retrySchedule: schedule,
        attemptTimeoutMs: 15_000,
      },
      runtimeOf: runtime => makeWorldRuntime(alter(runtime), receivers.side),
      telemetryOf: service => ({ ...silentMetrics, log: receivers.logOf(service) }),
      outage,
    },
    hasPeople: false,
    keepsTrace: false,
  });
  try {
    const { cloud, tables } = world;
    startedAt = await world.start();
    for (const event of events.filter(({ tenant }) => tenant.isReplayed)) {
      const Item = failedDelivery(event, cloud.now());
      tables.execute(new PutCommand({ TableName: deliveryEnvironment.deliveriesTable, Item }));
    }
    for (const tenant of tenants) planRequests(tenant, period);
    await cloud.run(startedAt + period.until + drainTime);
    const { user, system } = process.threadCpuUsage(usageBefore);
    const pending = tables.items(deliveryEnvironment.deliveriesTable).filter(({ state }) => state === 'pending');
    return {
      waits: receivers.waits(),
      maxInFlight: receivers.maxInFlight(),
      slowLanePosts: receivers.slowLanePosts(),
      deadLetters: cloud.queue(deadLetters.queue).bodies().length,
      posts: receivers.posts(),
      duplicatePosts: receivers.duplicatePosts(),
      pending: pending.length,
      cpu: (user + system) / 1e6,
    };
  } finally {
    world.end();
  }

  /** Schedules the periodic PUTs, the resends, or the replay of failed deliveries by a tenant's owner. */
  function planRequests(tenant: Tenant, { from, until }: Period): void {
    const { isReplayed, putIntervalMs = Number.POSITIVE_INFINITY, resends = 0 } = tenant;
    const webhook = `/v1/webhooks/${eventOf(tenant)}`;
    if (isReplayed) {
      const [desde, ate] = [startedAt - hour, startedAt + hour].map(moment => new Date(moment).toISOString());
      sendAt(from + 1, tenant, 'POST', `${webhook}/reenvios`, { desde, ate, estado: 'falhou' });
    }
    world.cloud.at(startedAt + from + minute, () => {
      const waiting = resends > 0 ? world.tables.items(deliveryEnvironment.deliveriesTable) : [];
      const later = waiting.filter(({ nextAttemptAt }) => Number(nextAttemptAt) > world.cloud.now() + 20 * second);
      for (const { id } of later.slice(0, resends))
        sendAt(from + minute, tenant, 'POST', `${webhook}/entregas/${id}/reenvio`);
    });
    for (let at = from + putIntervalMs; at < until; at += putIntervalMs) {
      sendAt(at, tenant, 'PUT', webhook, { url: `https://${hostOf(tenant)}/hooks/${at}` });
    }
  }

  /** Sends a request `at` milliseconds after the start. Repeats it after 1 s if the status is 5xx. */
  function sendAt(at: number, tenant: Tenant, method: string, path: string, body?: CompletedRequest['body']): void {
    const { account, resolutionMs } = tenant;
    world.cloud.at(startedAt + at, async () => {
      const { status } = await world.request(method, path, { account, body });
      const isLimited = status === 429; // the limit is 30 registrations a minute
      if (status < 300 || isLimited || !Number.isFinite(resolutionMs)) return;
      if (status < 500) throw new Error(`${method} ${path} of ${account}: ${status}`);
      sendAt(at + second, tenant, method, path, body);
    });
  }
}

function failedDelivery({ tenant, number, publication }: TenantEvent, now: number): Item {
  const { deliveryId: id, account: accountId, body } = publication;
  const delivery = newDelivery({
    ...{ id, accountId, body, eventName: eventOf(tenant), webhookId: webhookIdOf(hostOf(tenant)) },
    createdAt: now - minute - number,
  });
  return itemFromDelivery(settled(delivery, 'failed', now - 1));
}

const hour = 60 * minute;

/** The time for in-flight attempts to finish after the measured period, in milliseconds. */
const drainTime = 30_000;

/** The default retry schedule of a stage, in milliseconds. */
const schedule = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map(seconds => seconds * 1_000);

/** The deliveries API with the product's request limits instead of the low limits in a world. */
const productLimits: Partial<Compositions> = {
  deliveriesApi: (environment, runtime, telemetry) => composeDeliveriesApi(environment, runtime, telemetry),
};

/** Telemetry that ignores all metrics. */
const silentMetrics = { startInvocation: ignore, count: ignore, measure: ignore };

function ignore(): void {}
