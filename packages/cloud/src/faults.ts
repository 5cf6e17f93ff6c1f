import type { SeededRandom } from './seeded-random.ts';
import { ServiceError, throttled } from './service-error.ts';

/** The outcome of a call attempt. */
export type CallOutcome =
  | 'fine'
  /** The service throttles the call, but executes a part of a DynamoDB batch. */
  | 'throttled'
  /** The service returns an internal error (500), but executes a part of a DynamoDB batch. */
  | 'failed'
  /** The request is lost before it reaches the service. */
  | 'request_lost'
  /** The call takes effect, but its response is lost. */
  | 'response_lost'
  /** The call takes longer, sometimes longer than the caller's timeout. */
  | 'slow'
  /** The process dies before the call. */
  | 'dies_before'
  /** The process dies after the call took effect. */
  | 'dies_after';

interface CallAttempt {
  readonly functionName: string;
  readonly service: string;
  readonly operation: string;
  readonly resource: string;
}

/** The share of attempts with each outcome, from 0 to 1. `failed` applies to all services, and `sns.failed` only to SNS. */
export type FaultRates = Readonly<Record<string, number>>;

/** The faults that a cloud injects, in real or virtual time. */
export interface FaultPlan {
  /** The shares that always apply. */
  readonly shares?: FaultRates;
  /** Periods with additional faults in one service or resource. */
  readonly outages?: readonly Outages[];
  /** The share of batch entries, including sent messages, that a queue rejects individually. */
  readonly refusedEntries?: number;
  /** The share of deleted messages that a queue delivers again. */
  readonly copies?: number;
  /** The maximum clock error of processes, in milliseconds. */
  readonly skew?: number;
  /** Decides the outcome of an attempt. If it returns `undefined`, the shares decide. */
  readonly outcomeOf?: (call: CallAttempt) => CallOutcome | undefined;
}

/** Describes `count` periods of `length` milliseconds. Each starts in the first `within` milliseconds. */
interface Outages {
  readonly service: string;
  readonly resource?: string;
  readonly count: number;
  readonly length: number;
  readonly within: number;
  readonly shares: FaultRates;
}

/** Decides which faults occur. */
export type Faults = ReturnType<typeof makeFaults>;

/** The faults that affect queues. */
export type QueueFaults = Pick<Faults, 'isRedelivered' | 'isEntryRejected'>;

/** Creates a fault injector for a plan. */
export function makeFaults(plan: FaultPlan, now: () => number, randomOf: (name: string) => SeededRandom) {
  const random = randomOf('faults');
  const outages = (plan.outages ?? []).map((outage, index) => {
    const { number } = randomOf(`spells ${index}`);
    return { ...outage, starts: Array.from({ length: outage.count }, () => now() + number() * outage.within) };
  });
  let isOver = false;
  return {
    outcomeOf,
    /** Returns the additional latency of a slow call, in milliseconds. */
    slowness: () => random.number() * maxSlowness,
    /** Returns whether a batch fault affects an entry. The probability is 50%. */
    affectsEntry: () => random.happens(0.5),
    isEntryRejected: () => !isOver && random.happens(plan.refusedEntries),
    isRedelivered: () => !isOver && random.happens(plan.copies),
    /** Stops all faults. */
    end: () => {
      isOver = true;
    },
  };

  function outcomeOf(call: CallAttempt): CallOutcome {
    if (isOver) return 'fine';
    const override = plan.outcomeOf?.(call);
    if (override) return override;
    for (const { service, resource = call.resource, starts, length, shares } of outages) {
      if (service !== call.service || resource !== call.resource) continue;
      if (!starts.some(moment => moment <= now() && now() < moment + length)) continue;
      const outcome = draw(shares, service);
      if (outcome !== 'fine') return outcome;
    }
    return plan.shares ? draw(plan.shares, call.service) : 'fine';
  }

  /** Selects an outcome at random. It draws one number, so the shares of the outcomes are exact. */
  function draw(shares: FaultRates, service: string): CallOutcome {
    let remaining = random.number();
    return (
      outcomes.find(outcome => {
        remaining -= (shares[outcome] ?? 0) + (shares[`${service}.${outcome}`] ?? 0);
        return remaining < 0;
      }) ?? 'fine'
    );
  }
}

/** Returns the error from the service, if the outcome is an error response. */
export function errorOf(outcome: CallOutcome, service: string): ServiceError | undefined {
  if (outcome === 'throttled') return throttled(service);
  if (outcome !== 'failed') return undefined;
  return new ServiceError('InternalServerError', 'The service has failed.', 'server');
}

/** The maximum additional latency of a slow call, in milliseconds. */
const maxSlowness = 1_250;

const outcomes = ['dies_before', 'dies_after', 'throttled', 'failed', 'request_lost', 'response_lost', 'slow'] as const;
