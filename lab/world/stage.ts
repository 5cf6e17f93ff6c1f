import type { ProcessRuntime, VirtualCloud } from '@emissor/cloud/virtual';
import type { composeDeliveriesApi } from '../../lambdas/base-api/deliveries-api.composition.ts';
import type { composeWebhooksApi } from '../../lambdas/base-api/webhooks-api.composition.ts';
import type { composeDeliver } from '../../lambdas/delivery/consumer/deliver.composition.ts';
import type { Lane } from '../../lambdas/delivery/lane-routing.ts';
import type { composeSweep } from '../../lambdas/delivery/sweeper/sweep.composition.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { makeRandom, pick } from '../../tools/support/random.ts';
import type { WorldRuntime } from './process-runtime.ts';
import type { RequestCost } from './request-costs.ts';
import { minute, second } from './times.ts';
import type { WorldTelemetry } from './world-telemetry.ts';

/** The compositions that a world runs. Tests pass faulty compositions to check that the world detects the fault. */
export interface Compositions {
  readonly deliver: typeof composeDeliver;
  readonly sweep: typeof composeSweep;
  readonly webhooksApi: typeof composeWebhooksApi;
  readonly deliveriesApi: typeof composeDeliveriesApi;
  /** Returns the runtime of the operators. */
  readonly operators: (runtime: ProcessRuntime) => ProcessRuntime;
}

/** The dependencies of the functions of a world. */
export interface Stage {
  readonly compositions: Compositions;
  readonly values: StageValues;
  readonly runtimeOf: (process: ProcessRuntime) => WorldRuntime;
  readonly telemetryOf: (service: string, process: ProcessRuntime) => WorldTelemetry;
  readonly tokens: Tokens;
  readonly searchLogs: VirtualCloud['logs'];
  /** The calls to the store of each request to {base_url}. */
  readonly costs: RequestCost[];
  /** The maximum concurrent batches of each lane. */
  readonly concurrencyOf: Readonly<Record<Lane, number>>;
  /** The milliseconds between two sweeps. 0 disables them. @default - a minute */
  readonly sweepEvery?: number;
  /** A lane whose event source is off for a time, in milliseconds from the start. */
  readonly standstill?: Standstill | undefined;
}

/** The period in which the event source of a lane is off. */
export interface Standstill {
  readonly lane: Lane;
  readonly from: number;
  readonly until: number;
}

/** The values that operators have chosen for a stage. */
type StageValues = ReturnType<typeof stageValuesOf>;

/** Returns the values of the stage of a seed. */
export function stageValuesOf(seed: number) {
  const random = makeRandom(seed * 104_729);
  return {
    slowConcurrency: placesOfLane,
    retrySchedule: pick(schedules, random),
    attemptTimeoutMs: pick([5 * second, 15 * second], random),
  };
}

/** The last wait of the first schedule exceeds the maximum delay of a queue. */
const schedules = [
  [5 * second, 20 * second, minute, 1_000 * second],
  [100, second, 5 * second],
  [2 * minute, 2 * minute, 5 * minute, 5 * minute, 10 * minute],
];
/** The access tokens of a world's accounts, by account. */
export type Tokens = Map<string, string>;

/** The queues of the lanes. Their names are their URLs. */
export const queueOf: Readonly<Record<Lane, string>> = { first: 'events', retry: 'retries', slow: 'slow' };

/** The queue of messages that could not be processed. */
export const deadLetters = { queue: 'dead-letters', maxReceiveCount: 1_000 };

const placesOfLane = 10;

/** The concurrency of a small account. */
export const standardPlaces: Stage['concurrencyOf'] = { first: placesOfLane, retry: placesOfLane, slow: placesOfLane };

/** The time-outs of the consumers and of received messages, as in `lib/constructs/work-queue.ts`. */
export const consumerTimeout = 60 * second;
export const visibilityTimeout = 60;

/** The topics of publishers and of operators. */
export const refusedTopic = 'arn:aws:sns:sa-east-1:111122223333:refused';
export const operationsTopic = 'arn:aws:sns:sa-east-1:111122223333:operations';

/** The common environment of the functions of delivery: a stage's defaults, tables and queues. */
export const deliveryEnvironment = {
  ...stageConfiguration('dev'),
  webhooksTable: 'Webhooks',
  deliveriesTable: 'Deliveries',
  retryQueueUrl: queueOf.retry,
  slowQueueUrl: queueOf.slow,
  deadLetterQueueUrl: deadLetters.queue,
  rejectedEventsTopicArn: refusedTopic,
};

/** The names of the stage's own hosts. */
export const ownUrls = { auth: 'https://auth.example.com', base: 'https://base.example.com' } as const;

/** The limits are low, so that integrators reach them. */
export const requestLimits = { testLimit: 2, resendLimit: 5 } as const;
