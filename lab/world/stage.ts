import type { ProcessOutside, VirtualCloud } from '@emissor/cloud/virtual';
import type { composeDeliveriesApi } from '../../lambdas/base-api/deliveries-api.composition.ts';
import type { composeWebhooksApi } from '../../lambdas/base-api/webhooks-api.composition.ts';
import type { composeDeliver } from '../../lambdas/delivery/consumer/deliver.composition.ts';
import type { Lane } from '../../lambdas/delivery/lane-routing.ts';
import type { composeSweep } from '../../lambdas/delivery/sweeper/sweep.composition.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { makeRandom, pick } from '../../tools/support/random.ts';
import type { WorldOutside } from './process-runtime.ts';
import type { RequestCost } from './request-costs.ts';
import { minute, second } from './times.ts';
import type { WorldTelemetry } from './world-telemetry.ts';

/** The compositions that a world runs. A test gives others to see that their fault is found. */
export interface Compositions {
  readonly deliver: typeof composeDeliver;
  readonly sweep: typeof composeSweep;
  readonly webhooksApi: typeof composeWebhooksApi;
  readonly deliveriesApi: typeof composeDeliveriesApi;
  /** Returns the calls that operators make. */
  readonly operators: (runtime: ProcessOutside) => ProcessOutside;
}

/** The parts that the functions of a world are made with. */
export interface Stage {
  readonly compositions: Compositions;
  readonly values: StageValues;
  readonly outsideOf: (process: ProcessOutside) => WorldOutside;
  readonly telemetryOf: (service: string, process: ProcessOutside) => WorldTelemetry;
  readonly tokens: Tokens;
  readonly searchLogs: VirtualCloud['logs'];
  /** The calls of the store that each request to {base_url} has made. */
  readonly costs: RequestCost[];
  /** The batches that each lane processes at once at most. */
  readonly concurrencyOf: Readonly<Record<Lane, number>>;
  /** Milliseconds between two sweeps; 0: none is scheduled. @default - a minute */
  readonly sweepEvery?: number;
  /** A lane whose event source is off for a time, in milliseconds from the beginning. */
  readonly standstill?: Standstill | undefined;
}

/** The time in which the event source of a lane is off. */
export interface Standstill {
  readonly lane: Lane;
  readonly from: number;
  readonly until: number;
}

/** The values that the operators of a stage have chosen. */
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

/** The last wait of the first one is longer than a queue can hold a message back. */
const schedules = [
  [5 * second, 20 * second, minute, 1_000 * second],
  [100, second, 5 * second],
  [2 * minute, 2 * minute, 5 * minute, 5 * minute, 10 * minute],
];
/** The access tokens of a world's accounts, by account. */
export type Tokens = Map<string, string>;

/** The queues of the lanes: their names are their URLs. */
export const queueOf: Readonly<Record<Lane, string>> = { first: 'events', retry: 'retries', slow: 'slow' };

/** The queue of what nobody could process. */
export const deadLetters = { queue: 'dead-letters', maxReceiveCount: 1_000 };

const placesOfLane = 10;

/** The places of a small account. */
export const standardPlaces: Stage['concurrencyOf'] = { first: placesOfLane, retry: placesOfLane, slow: placesOfLane };

/** The times of the consumers and of what they received, as `lib/constructs/work-queue.ts` has them. */
export const consumerTimeout = 60 * second;
export const visibilityTimeout = 60;

/** The topics of publishers and of operators. */
export const refusedTopic = 'arn:aws:sns:sa-east-1:111122223333:refused';
export const operationsTopic = 'arn:aws:sns:sa-east-1:111122223333:operations';

/** The environment that the functions of delivery share: what a stage has by default, tables and queues. */
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

/** Few enough that integrators get there. */
export const requestLimits = { testLimit: 2, resendLimit: 5 } as const;
