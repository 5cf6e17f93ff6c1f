import type { Places as WebhookPlaces } from '../../lambdas/delivery/isolation/concurrency-limit.ts';
import type { Random } from '../../tools/support/random.ts';
import type { ConsumerSettings, Places } from './lane-consumer.ts';

/** The configuration of the simulated service. */
export interface ServicePlan extends ConsumerSettings {
  readonly places: { readonly first: Places; readonly retry: Places };
  readonly attemptsPerWebhook: WebhookPlaces;
  /** True when queues are fair between accounts. */
  readonly isFair: boolean;
  readonly giveUp: 'waiting' | 'always';
  /** The age of the queue's count of waiting messages when it is asked, in milliseconds. */
  readonly countLag: number;
  /**
   * `present`: what finds its webhook's places taken when it is received is hidden for a while, four times; slots are reserved
   * in blocks, and a move's mark is written with its delivery. `hiddenAfterReading`: the same, but hidden only after its items
   * were read. `former`: such a message was stored and sent to the retry lane after its items were read, each move reserved its
   * slot, and its mark was written apart.
   */
  readonly moves: 'present' | 'hiddenAfterReading' | 'former';
  /** A message that is received this often is stored and moved, and not hidden once more. */
  readonly receivesBeforeMove: number;
}

/** A receiver's behaviour in one attempt. Milliseconds; `Infinity` never comes. */
export interface Behaviour {
  readonly resolves: number;
  readonly answers: number;
  readonly isSuccess: boolean;
}

/** One webhook, whose it is, and what it is sent. */
export interface Tenant {
  readonly account: string;
  readonly webhook: string;
  readonly isHealthy: boolean;
  /** The moments when its events are published, in order: milliseconds from the beginning. */
  readonly publishes: readonly number[];
  readonly behave: (random: Random, event: Pick<SimulatedMessage, 'attempt' | 'number'>, now: number) => Behaviour;
  /** Replaces its URL once in this time, in milliseconds. */
  readonly putEvery?: number;
  /** True when its events are deliveries of a replay: they are stored, and begin in the retry lane. */
  readonly isReplayed?: true;
}

/** A message of one of the queues. */
export interface SimulatedMessage {
  readonly tenant: Tenant;
  readonly account: string;
  /** The number of the event among the tenant's. */
  readonly number: number;
  readonly attempt: number;
  /** The moment when it was published, or its retry was due. */
  readonly due: number;
  /** True when its delivery is stored. */
  isStored: boolean;
  /** True when it was attempted or stored. */
  isSeen: boolean;
  receives: number;
  order: number;
}
