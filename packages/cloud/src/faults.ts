import type { SeededRandom } from './seeded-random.ts';
import { ServiceError, throttled } from './service-error.ts';

/** The fate of one try of a call. */
export type Fate =
  | 'fine'
  /** The service takes no more for now. Of a batch of DynamoDB it takes a part. */
  | 'throttled'
  /** The service answers with an error of its own (500). It did nothing, or a part of a batch of DynamoDB. */
  | 'failed'
  /** The service never hears of it. */
  | 'request_lost'
  /** It takes effect, and nobody is told. */
  | 'answer_lost'
  /** It takes longer, at times longer than the caller waits. */
  | 'slow'
  /** The process dies in place of making it. */
  | 'dies_before'
  /** The process dies once it took effect. */
  | 'dies_after';

interface CallTry {
  readonly functionName: string;
  readonly service: string;
  readonly operation: string;
  readonly resource: string;
}

/** Shares from 0 to 1 of the tries that meet each fate: `failed`, or of one service alone: `sns.failed`. */
export type Shares = Readonly<Record<string, number>>;

/** The faults of a cloud, in real and in virtual time. */
export interface FaultPlan {
  /** Of all tries. */
  readonly shares?: Shares;
  /** Bad times of one service, or of one of its resources. */
  readonly spells?: readonly Spells[];
  /** The share of sent messages, and of entries of other batches, that a queue refuses, each by itself. */
  readonly refusedEntries?: number;
  /** The share of deleted messages that a queue hands over once more. */
  readonly copies?: number;
  /** Milliseconds by which the clocks of processes are wrong at most. */
  readonly skew?: number;
  /** Decides the fate of a try by itself; `undefined` leaves it to the shares. */
  readonly fateOf?: (call: CallTry) => Fate | undefined;
}

/** A number of spells (`count`) of `length` milliseconds each, which begin within the first `within` milliseconds. */
interface Spells {
  readonly service: string;
  readonly resource?: string;
  readonly count: number;
  readonly length: number;
  readonly within: number;
  readonly shares: Shares;
}

/** Decides what goes wrong. */
export type Faults = ReturnType<typeof makeFaults>;

/** The faults of queues. */
export type QueueFaults = Pick<Faults, 'comesAgain' | 'isEntryRefused'>;

/** Makes faults by a plan. */
export function makeFaults(plan: FaultPlan, now: () => number, randomOf: (name: string) => SeededRandom) {
  const random = randomOf('faults');
  const spells = (plan.spells ?? []).map((spell, index) => {
    const { number } = randomOf(`spells ${index}`);
    return { ...spell, begin: Array.from({ length: spell.count }, () => now() + number() * spell.within) };
  });
  let isOver = false;
  return {
    fateOf,
    /** Returns the milliseconds that a slow call takes longer. */
    slowness: () => random.number() * slowest,
    /** Returns whether a refusal of a batch is about one entry of it: half of them, by chance. */
    isAboutEntry: () => random.happens(0.5),
    isEntryRefused: () => !isOver && random.happens(plan.refusedEntries),
    comesAgain: () => !isOver && random.happens(plan.copies),
    /** Nothing goes wrong from now on. */
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

  /** One draw decides between all fates, so that their shares add up. */
  function draw(shares: Shares, service: string): Fate {
    let left = random.number();
    return (
      fates.find(fate => {
        left -= (shares[fate] ?? 0) + (shares[`${service}.${fate}`] ?? 0);
        return left < 0;
      }) ?? 'fine'
    );
  }
}

/** Returns the error that a service answers with, if that is the fate of a call. */
export function refusalBy(fate: Fate, service: string): ServiceError | undefined {
  if (fate === 'throttled') return throttled(service);
  if (fate !== 'failed') return undefined;
  return new ServiceError('InternalServerError', 'The service has failed.', 'server');
}

/** Milliseconds that a slow call takes longer at most. */
const slowest = 1_250;

const fates = ['dies_before', 'dies_after', 'throttled', 'failed', 'request_lost', 'answer_lost', 'slow'] as const;
