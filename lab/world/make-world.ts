import { type FaultPlan, makeVirtualCloud, type VirtualCloudDefinition } from '@emissor/cloud/virtual';
import { composeDeliveriesApi } from '../../lambdas/base-api/deliveries-api.composition.ts';
import { composeWebhooksApi } from '../../lambdas/base-api/webhooks-api.composition.ts';
import { composeDeliver } from '../../lambdas/delivery/consumer/deliver.composition.ts';
import { composeSweep } from '../../lambdas/delivery/sweeper/sweep.composition.ts';
import { type Account, makeAccounts, makePublications, type Publication, sentAt } from './arrival.ts';
import { type FaultClass, faultsOf } from './fault-classes.ts';
import { baseApiFunctions } from './functions/base-api.ts';
import { deliveryFunctions, repeatSweeps } from './functions/delivery.ts';
import { operatorFunction, operatorName } from './functions/operator.ts';
import { makePeople } from './people/people.ts';
import { makeWorldRuntime } from './process-runtime.ts';
import { makeReceivers } from './receivers.ts';
import { makeRequests } from './requests.ts';
import { makeSetUp } from './set-up.ts';
import {
  type Compositions,
  deadLetters,
  defaultConcurrency,
  queueOf,
  type Stage,
  stageValuesOf,
  type Tokens,
  visibilityTimeout,
} from './stage.ts';
import { day, minute, second } from './times.ts';
import { watchTables } from './watched-tables.ts';
import { makeServiceTables, setUp, withoutFaultsFor } from './world-cloud.ts';
import { makeMetrics } from './world-telemetry.ts';

/** The replacements for the default parts of a world. */
export interface WorldParts {
  readonly accounts?: readonly Account[];
  /** True if integrators and operators act. @default true */
  readonly hasPeople?: boolean;
  readonly publications?: readonly Publication[];
  /** The maximum lag of an index or an eventually consistent read, in milliseconds. */
  readonly tableLag?: number;
  readonly stage?: Partial<Omit<Stage, 'compositions'>>;
  readonly queues?: { readonly isFair: boolean };
  readonly cloud?: Partial<Pick<VirtualCloudDefinition, 'concurrency' | 'costs' | 'start'>>;
  /** The faults that replace the faults of the class. */
  readonly faults?: FaultPlan | undefined;
  /** False if the world stores no trace. The trace of a long run would exhaust the memory. @default true */
  readonly keepsTrace?: boolean;
  readonly keepsDetails?: boolean;
}

/** A world, with the state that invariants read. */
export type World = ReturnType<typeof makeWorld>;

/**
 * Creates a delivery world from the product's functions. The seed determines the accounts, receivers and events. The
 * world captures the standard output of this process until `end`, so only one world may exist at a time.
 */
export function makeWorld(
  seed: number,
  faultClass: FaultClass,
  compositions: Partial<Compositions> = {},
  parts: WorldParts = {},
) {
  const tables = makeServiceTables(seed, () => cloud.now(), parts.tableLag);
  const watched = watchTables(tables, () => cloud.now());
  const tokens: Tokens = new Map();
  const metrics = makeMetrics(() => cloud.now());
  const stage: Stage = {
    compositions: { ...product, ...compositions },
    values: stageValuesOf(seed),
    runtimeOf: process => makeWorldRuntime(process, receivers),
    telemetryOf: metrics.telemetryOf,
    tokens,
    searchLogs: filter => cloud.logs(filter),
    costs: [],
    concurrencyOf: defaultConcurrency,
    ...parts.stage,
  };
  const { keepsTrace = true, keepsDetails = true, hasPeople = true } = parts;
  const cloud = makeVirtualCloud({
    seed,
    keepsTrace,
    keepsDetails,
    tables: () => (keepsTrace ? watched : tables),
    queues: [
      ...Object.values(queueOf).map(name => ({ name, visibilityTimeout, redrive: deadLetters, ...parts.queues })),
      { name: deadLetters.queue },
    ],
    functions: [
      ...deliveryFunctions(stage),
      ...baseApiFunctions(stage),
      operatorFunction(stage),
      {
        name: 'set-up',
        timeout: minute,
        start: process => makeSetUp(stage.runtimeOf(process), accounts, tokens),
      },
    ],
    ...parts.cloud,
    faults: withoutFaultsFor(parts.faults ?? faultsOf(faultClass), ['set-up', operatorName]),
  });
  const receivers = makeReceivers(seed, cloud.now);
  const { accounts = makeAccounts(seed) } = parts;
  const { publications = makePublications(seed, accounts) } = parts;
  const bodies = new Map<string, string>();
  const { request, completed } = makeRequests(() => cloud);
  const people = makePeople({ seed, cloud, accounts, publications, receivers, watched, request });
  const end = cloud.captureOutput();
  for (const { host, kind } of accounts) if (kind !== undefined) receivers.add(host, kind);
  return {
    cloud,
    stage,
    costs: stage.costs,
    tables,
    receivers,
    metrics,
    accounts,
    publications,
    /** The bodies of sent messages, by message id. */
    bodies,
    faultClass,
    watched,
    people,
    request,
    completed,
    start,
    step,
    run,
    end,
  };

  /** Advances the virtual clock. */
  function step(milliseconds: number): Promise<void> {
    return cloud.run(cloud.now() + milliseconds);
  }

  /** Runs until the queues are empty and no delivery is pending. @throws {Error} after one virtual day. */
  async function run(): Promise<void> {
    const isBusy = () =>
      Object.values(queueOf).some(name => cloud.queue(name).bodies().length > 0) ||
      tables.items('Deliveries').some(({ state }) => state === 'pending');
    for (const until = cloud.now() + day; isBusy(); await step(second)) {
      if (cloud.now() > until) throw new Error('A delivery is still pending after a day.');
    }
  }

  /** Fills the tables and schedules the messages. Returns the start time. */
  async function start(): Promise<number> {
    if (faultClass === 'all') repeatSweeps(cloud, seed);
    const startedAt = await setUp(cloud);
    for (const publication of publications) {
      const { account, body, queue } = publication;
      cloud.at(startedAt + sentAt(publication), () => bodies.set(cloud.send(queue, { body, group: account }), body));
    }
    if (hasPeople) people.start(startedAt);
    return startedAt;
  }
}

const product: Compositions = {
  deliver: composeDeliver,
  sweep: composeSweep,
  webhooksApi: composeWebhooksApi,
  deliveriesApi: composeDeliveriesApi,
  operators: runtime => runtime,
};
