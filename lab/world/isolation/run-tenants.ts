import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { ProcessOutside } from '@emissor/virtual-cloud';
import { makeWorld } from '../make-world.ts';
import { makeWorldOutside } from '../process-outside.ts';
import { deadLetters, deliveryEnvironment } from '../stage.ts';
import type { SlowLaneFigures } from './bounds.ts';
import type { InnocentWaits } from './extra-waits.ts';
import { type Deed, failedDelivery, ownerFunction } from './owner.ts';
import { type Situation, scalingIn } from './situations.ts';
import type { Period, Tenant } from './tenant.ts';
import { accountOf } from './tenant-events.ts';
import { makeTenantReceivers } from './tenant-receivers.ts';

/** Tenants beside each other. */
export interface TenantsRun {
  readonly situation: Situation;
  readonly seed: number;
  readonly period: Period;
  readonly tenants: readonly Tenant[];
}

/** What became of a run. */
export interface RunResult {
  readonly waits: InnocentWaits;
  readonly slowLane: SlowLaneFigures;
  readonly deadLetters: number;
  readonly posts: number;
  readonly slowLaneAttempts: number;
  /** Deliveries that are pending at the end, and those of them that wait for a slot in the slow lane. */
  readonly pending: number;
  readonly waitingInTable: number;
  /** Seconds of processor time. */
  readonly cpu: number;
}

/** Changes what leads out of a process: a test sees that a faulty product is found out. */
export type Alter = (outside: ProcessOutside) => ProcessOutside;

/** Runs tenants in a world without faults, by the seed. */
export async function runTenants(
  { situation, seed, period, tenants }: TenantsRun,
  alter: Alter = outside => outside,
): Promise<RunResult> {
  const usageBefore = process.threadCpuUsage();
  let began = 0;
  const now = () => world.cloud.now() - began;
  const receivers = makeTenantReceivers(tenants, period, seed, now);
  const events = [...receivers.events.values()];
  const world = makeWorld(seed, 'calm', undefined, {
    accounts: tenants.map(accountOf),
    publications: events.filter(({ tenant }) => !tenant.isReplayed).map(({ publication }) => publication),
    queues: { isFair: situation.isFair, countLag: situation.countLag },
    stage: {
      scalingOf: scalingIn(situation),
      values: { SLOW_RATE: 20, RETRY_SCHEDULE: schedule, ATTEMPT_TIMEOUT_MS: 15_000, GIVE_UP: situation.giveUp },
      outsideOf: watched,
      telemetryOf: () => quiet,
    },
    functions: stage => [ownerFunction(stage)],
    hasPeople: false,
    keepsTrace: false,
  });
  try {
    const { cloud, tables } = world;
    began = await world.begin();
    for (const event of events.filter(({ tenant }) => tenant.isReplayed)) {
      const Item = failedDelivery(event, cloud.now());
      tables.execute(new PutCommand({ TableName: deliveryEnvironment.DELIVERIES_TABLE, Item }));
    }
    for (const tenant of tenants) planDeeds(tenant, period);
    await cloud.run(began + period.until + drainTime);
    const { user, system } = process.threadCpuUsage(usageBefore);
    const pending = tables.items(deliveryEnvironment.DELIVERIES_TABLE).filter(({ state }) => state === 'pending');
    return {
      waits: receivers.waits(),
      slowLane: receivers.slowLane(),
      deadLetters: cloud.queue(deadLetters.queue).bodies().length,
      posts: receivers.posts(),
      slowLaneAttempts: receivers.slowLaneAttempts(),
      pending: pending.length,
      waitingInTable: pending.filter(({ slowLane }) => slowLane === 'waiting').length,
      cpu: (user + system) / 1e6,
    };
  } finally {
    world.end();
  }

  function watched(outside: ProcessOutside) {
    const { sqs } = outside;
    const send: typeof sqs.send = (command, options) => {
      receivers.noteSent(command);
      return sqs.send(command, options);
    };
    return makeWorldOutside(alter({ ...outside, sqs: { send } }), receivers.side);
  }

  function planDeeds(tenant: Tenant, { from, until }: Period): void {
    const { isReplayed, putEvery = Number.POSITIVE_INFINITY } = tenant;
    if (isReplayed) plan(from + 1, { does: 'replay', tenant });
    for (let at = from + putEvery; at < until; at += putEvery) plan(at, { does: 'put', tenant });
  }

  function plan(at: number, { does, tenant: { account, webhook, event } }: Deed): void {
    world.cloud.at(began + at, () => {
      world.cloud.function('owner').invoke({ does, tenant: { account, webhook, event } }, ({ status }) => {
        if (status !== 'answered') throw new Error(`The owner of ${webhook} could not ${does}: ${status}.`);
      });
    });
  }
}

/** The run goes on after the measured period, for attempts that are still under way. */
const drainTime = 30_000;

/** A stage's default, as the other values are. */
const schedule = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map(seconds => seconds * 1_000);

/** Nothing that a run measures or logs is looked at. */
const quiet = {
  log: { info: ignore, warn: ignore, error: ignore },
  beginInvocation: ignore,
  count: ignore,
  measure: ignore,
};

function ignore(): void {}
