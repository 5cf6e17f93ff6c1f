import type { SeededRandom } from './seeded-random.ts';
import { ServiceError, throttled } from './service-error.ts';

/** The outcome of one attempt of a call. */
export type Fate =
  | 'fine'
  /** The service throttles the call. It accepts a part of a DynamoDB batch. */
  | 'throttled'
  /** The service returns an internal error (500). It executed no operation, or a part of a DynamoDB batch. */
  | 'failed'
  /** The request is lost before it reaches the service. */
  | 'request_lost'
  /** The call takes effect, but its response is lost. */
  | 'answer_lost'
  /** The call takes longer, sometimes longer than the caller's timeout. */
  | 'slow'
  /** The process dies before the call. */
  | 'dies_before'
  /** The process dies after the call took effect. */
  | 'dies_after';

interface CallTry {
  readonly functionName: string;
  readonly service: string;
  readonly operation: string;
  readonly resource: string;
}

/** The share of attempts with each outcome, from 0 to 1. `failed` is for all services, `sns.failed` for one service. */
export type FaultRates = Readonly<Record<string, number>>;

/** The faults of a cloud in real or virtual time. */
export interface FaultPlan {
  /** The shares of all attempts. */
  readonly shares?: FaultRates;
  /** Periods with more faults, of one service or one of its resources. */
  readonly spells?: readonly Spells[];
  /** The share of sent messages, and of other batch entries, that a queue rejects individually. */
  readonly refusedEntries?: number;
  /** The share of deleted messages that a queue delivers again. */
  readonly copies?: number;
  /** The maximum clock error of processes, in milliseconds. */
  readonly skew?: number;
  /** Decides the outcome of an attempt. If it returns `undefined`, the shares decide. */
  readonly fateOf?: (call: CallTry) => Fate | undefined;
}

/** A number (`count`) of periods of `length` milliseconds, which start within the first `within` milliseconds. */
interface Spells {
  readonly service: string;
  readonly resource?: string;
  readonly count: number;
  readonly length: number;
  readonly within: number;
  readonly shares: FaultRates;
}

/** Decides which faults occur. */
export type Faults = ReturnType<typeof makeFaults>;

/** The faults of queues. */
export type QueueFaults = Pick<Faults, 'comesAgain' | 'isEntryRefused'>;

/** Creates faults according to a plan. */
export function makeFaults(plan: FaultPlan, now: () => number, randomOf: (name: string) => SeededRandom) {
  const random = randomOf('faults');
  const spells = (plan.spells ?? []).map((spell, index) => {
    const { number } = randomOf(`spells ${index}`);
    return { ...spell, begin: Array.from({ length: spell.count }, () => now() + number() * spell.within) };
  });
  let isOver = false;
  return {
    fateOf,
    /** Returns the extra milliseconds of a slow call. */
    slowness: () => random.number() * slowest,
    /** Returns whether a rejected batch is rejected because of one entry. True for half of them, at random. */
    isAboutEntry: () => random.happens(0.5),
    isEntryRefused: () => !isOver && random.happens(plan.refusedEntries),
    comesAgain: () => !isOver && random.happens(plan.copies),
    /** Stops all faults. */
    end: () => {
      isOver = true;
    },
  };

  function fateOf(call: CallTry): Fate {
    if (isOver) return 'fine';
    const decided = plan.fateOf?.(call);
    if (decided) return decided;
    for (const { service, resource = call.resource, begin, length, shares } of spells) {
      if (service !== call.service || resource !== call.resource) continue;
      if (!begin.some(moment => moment <= now() && now() < moment + length)) continue;
      const fate = draw(shares, service);
      if (fate !== 'fine') return fate;
    }
    return plan.shares ? draw(plan.shares, call.service) : 'fine';
  }

  /** Draws one number for all outcomes, so that their shares add up. */
  function draw(shares: FaultRates, service: string): Fate {
    let left = random.number();
    return (
      fates.find(fate => {
        left -= (shares[fate] ?? 0) + (shares[`${service}.${fate}`] ?? 0);
        return left < 0;
      }) ?? 'fine'
    );
  }
}

/** Returns the error response of a service, if the outcome is an error. */
export function refusalBy(fate: Fate, service: string): ServiceError | undefined {
  if (fate === 'throttled') return throttled(service);
  if (fate !== 'failed') return undefined;
  return new ServiceError('InternalServerError', 'The service has failed.', 'server');
}

/** The maximum extra milliseconds of a slow call. */
const slowest = 1_250;

const fates = ['dies_before', 'dies_after', 'throttled', 'failed', 'request_lost', 'answer_lost', 'slow'] as const;
