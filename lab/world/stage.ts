import type { ProcessOutside } from '@emissor/virtual-cloud';
import type { Lane } from '../../lambdas/delivery/lane-routing.ts';
import type { composeSweep } from '../../lambdas/delivery/sweeper/sweep.composition.ts';
import type { composeDeliver } from '../../lambdas/delivery/worker/deliver.composition.ts';
import { makeRandom, pick } from '../../tools/support/random.ts';
import type { WorldOutside } from './process-outside.ts';
import { minute, second } from './times.ts';
import type { WorldTelemetry } from './world-telemetry.ts';

/** The compositions that a world runs. A test gives others to see that their fault is found. */
export interface Compositions {
  readonly deliver: typeof composeDeliver;
  readonly sweep: typeof composeSweep;
}

/** What the functions of a world are made with. */
export interface Stage {
  readonly compositions: Compositions;
  readonly values: StageValues;
  readonly outsideOf: (process: ProcessOutside) => WorldOutside;
  readonly telemetryOf: (service: string, process: ProcessOutside) => WorldTelemetry;
}

/** What the operators of a stage have chosen for it. */
type StageValues = ReturnType<typeof stageValuesOf>;

/** Returns the values of the stage of a seed. A slot at three a second is no whole number of milliseconds. */
export function stageValuesOf(seed: number) {
  const random = makeRandom(seed * 104_729);
  return {
    SLOW_RATE: pick([1, 3, 7, 20], random),
    RETRY_SCHEDULE: pick(schedules, random),
    ATTEMPT_TIMEOUT_MS: pick([5 * second, 15 * second], random),
    GIVE_UP: pick(['waiting', 'always'] as const, random),
  };
}

/** The last wait of the first one is longer than a queue can hold a message back. */
const schedules = [
  [5 * second, 20 * second, minute, 1_000 * second],
  [100, second, 5 * second],
  [2 * minute, 2 * minute, 5 * minute, 5 * minute, 10 * minute],
];

/** The queues of the lanes: their names are their URLs. */
export const queueOf: Readonly<Record<Lane, string>> = { first: 'events', retry: 'retries', slow: 'slow' };

/** The queue of what nobody could process. */
export const deadLetters = { queue: 'dead-letters', maxReceiveCount: 100 };

/** The times of the consumers and of what they received, as `lib/delivery-lanes.ts` and `lib/constructs/work-queue.ts` have them. */
export const consumerTimeout = 45 * second;
export const visibilityTimeout = 6 * 45;

/** The environment that the functions of delivery share. */
export const deliveryEnvironment = {
  WEBHOOKS_TABLE: 'Webhooks',
  DELIVERIES_TABLE: 'Deliveries',
  RETRY_QUEUE_URL: queueOf.retry,
  SLOW_QUEUE_URL: queueOf.slow,
  DEAD_LETTER_QUEUE_URL: deadLetters.queue,
  REFUSED_EVENTS_TOPIC_ARN: 'arn:aws:sns:sa-east-1:111122223333:refused',
  HISTORY_DAYS: 30,
};
