import type { SeededRandom } from './seeded-random.ts';

/** What befalls one try of a call. */
export type Fate =
  | 'fine'
  | 'throttled'
  /** The service answers with an error of its own (500). It did nothing. */
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

/** One try of a call. */
interface CallTry {
  /** Counts all tries of all calls, from 1. */
  readonly number: number;
  readonly processId: string;
  readonly functionName: string;
  readonly service: string;
  readonly operation: string;
  readonly resource: string;
}

/** Shares from 0 to 1 of the tries that meet each fate. */
type Shares = Partial<Record<Exclude<Fate, 'fine'>, number>>;

/** What goes wrong. Everything in it is decided by the seed. */
export interface FaultPlan {
  /** Of all tries. */
  readonly shares?: Shares;
  /** Bad times of one service, or of one of its resources. */
  readonly spells?: readonly Spells[];
  /** The share of sent messages that a queue refuses, each by itself. */
  readonly refusedSends?: number;
  /** The share of deleted messages that a queue hands over once more. */
  readonly copies?: number;
  /** Milliseconds by which the clocks of processes are wrong at most. */
  readonly skew?: number;
  /** Milliseconds that a slow call takes longer at most. */
  readonly slowness?: number;
  /** Decides the fate of a try by itself; `undefined` leaves it to the shares. */
  readonly fateOf?: (call: CallTry) => Fate | undefined;
}

/** So many spells of `length` milliseconds, which begin within the first `within` milliseconds. */
interface Spells {
  readonly service: string;
  readonly resource?: string;
  readonly count: number;
  readonly length: number;
  readonly within: number;
  readonly shares: Shares;
}

/** Decides what goes wrong. */
export interface Faults {
  readonly fateOf: (call: CallTry) => Fate;
  /** Returns the milliseconds that a slow call takes longer. */
  readonly slowness: () => number;
  readonly isSendRefused: () => boolean;
  readonly comesAgain: () => boolean;
  /** Nothing goes wrong from now on. */
  readonly end: () => void;
}

/** Makes faults by a plan. */
export function makeFaults(plan: FaultPlan, now: () => number, randomOf: (name: string) => SeededRandom): Faults {
  const random = randomOf('faults');
  const began = now();
  const spells = (plan.spells ?? []).map((spell, index) => ({ ...spell, begin: beginsOf(spell, index) }));
  let isOver = false;
  return {
    fateOf,
    slowness: () => random.number() * (plan.slowness ?? 1_250),
    isSendRefused: () => !isOver && random.happens(plan.refusedSends),
    comesAgain: () => !isOver && random.happens(plan.copies),
    end: () => {
      isOver = true;
    },
  };

  function beginsOf({ count, within }: Spells, index: number): number[] {
    const { number } = randomOf(`spells ${index}`);
    return Array.from({ length: count }, () => began + number() * within);
  }

  function fateOf(call: CallTry): Fate {
    if (isOver) return 'fine';
    const decided = plan.fateOf?.(call);
    if (decided) return decided;
    for (const { service, resource, begin, length, shares } of spells) {
      if (service !== call.service || (resource !== undefined && resource !== call.resource)) continue;
      if (!begin.some(moment => moment <= now() && now() < moment + length)) continue;
      const fate = draw(shares);
      if (fate !== 'fine') return fate;
    }
    return plan.shares ? draw(plan.shares) : 'fine';
  }

  /** One draw decides between all fates, so that their shares add up. */
  function draw(shares: Shares): Fate {
    let left = random.number();
    for (const fate of fates) {
      left -= shares[fate] ?? 0;
      if (left < 0) return fate;
    }
    return 'fine';
  }
}

const fates = ['dies_before', 'dies_after', 'throttled', 'failed', 'request_lost', 'answer_lost', 'slow'] as const;
