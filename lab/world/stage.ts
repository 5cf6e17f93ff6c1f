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

/** The compositions that a world runs. Tests pass faulty compositions to check that the world detects faults. */
export interface Compositions {
  readonly deliver: typeof composeDeliver;
  readonly sweep: typeof composeSweep;
  readonly webhooksApi: typeof composeWebhooksApi;
  readonly deliveriesApi: typeof composeDeliveriesApi;
  /** Returns the runtime for operators' commands. */
  readonly operators: (runtime: ProcessRuntime) => ProcessRuntime;
}

/** The dependencies of a world's functions. */
export interface Stage {
  readonly compositions: Compositions;
  readonly values: StageValues;
  readonly runtimeOf: (process: ProcessRuntime) => WorldRuntime;
  readonly telemetryOf: (service: string, process: ProcessRuntime) => WorldTelemetry;
  readonly tokens: Tokens;
  readonly searchLogs: VirtualCloud['logs'];
  /** The DynamoDB calls of each request to {base_url}. */
  readonly costs: RequestCost[];
  /** The maximum number of concurrent batches, by lane. */
  readonly concurrencyOf: Readonly<Record<Lane, number>>;
  /** The interval between sweeps in milliseconds. 0 disables sweeps. @default - 1 minute */
  readonly sweepIntervalMs?: number;
  readonly outage?: SourceOutage | undefined;
}

/** An outage during which the event source of a lane is disabled. Times are in milliseconds from the start. */
export interface SourceOutage {
  readonly lane: Lane;
  readonly from: number;
  readonly until: number;
}

type StageValues = ReturnType<typeof stageValuesOf>;

/** Returns the stage configuration for a seed. */
export function stageValuesOf(seed: number) {
  const random = makeRandom(seed * 104_729);
  return {
    slowConcurrency: concurrency,
    retrySchedule: pick(schedules, random),
    attemptTimeoutMs: pick([5 * second, 15 * second], random),
  };
}

/** Retry schedules. The last wait of the first schedule exceeds the maximum delay in SQS. */
const schedules = [
  [5 * second, 20 * second, minute, 1_000 * second],
  [100, second, 5 * second],
  [2 * minute, 2 * minute, 5 * minute, 5 * minute, 10 * minute],
];

/** The access tokens, by account. */
export type Tokens = Map<string, string>;

/** The queue of each lane. Its name is also its URL. */
export const queueOf: Readonly<Record<Lane, string>> = { first: 'events', retry: 'retries', slow: 'slow' };

/** The dead-letter queue of all lanes. */
export const deadLetters = { queue: 'dead-letters', maxReceiveCount: 1_000 };

const concurrency = 10;

/** The concurrency of the lanes in a new AWS account. */
export const defaultConcurrency: Stage['concurrencyOf'] = { first: concurrency, retry: concurrency, slow: concurrency };

/** The consumer timeout in milliseconds and the visibility timeout in seconds, as in `lib/constructs/work-queue.ts`. */
export const consumerTimeout = 60 * second;
export const visibilityTimeout = 60;

/** The topics for publishers and for operators. */
export const rejectedEventsTopic = 'arn:aws:sns:sa-east-1:111122223333:rejected-events';
export const operationsTopic = 'arn:aws:sns:sa-east-1:111122223333:operations';

/** The common environment of the delivery functions. */
export const deliveryEnvironment = {
  ...stageConfiguration('dev'),
  webhooksTable: 'Webhooks',
  deliveriesTable: 'Deliveries',
  retryQueueUrl: queueOf.retry,
  slowQueueUrl: queueOf.slow,
  deadLetterQueueUrl: deadLetters.queue,
  rejectedEventsTopicArn: rejectedEventsTopic,
};

/** The URLs of the stage's APIs. */
export const ownUrls = { auth: 'https://auth.example.com', base: 'https://base.example.com' } as const;

/** The limits of test and resend requests. They are low, so that integrators reach them. */
export const requestLimits = { testLimit: 2, resendLimit: 5 } as const;
