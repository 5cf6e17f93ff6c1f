import type { Happening } from '@emissor/virtual-cloud';
import { runTokenSeed } from './auth/run-token-seed.ts';
import type { FaultClass } from './fault-classes.ts';
import { runSeed } from './run-seed.ts';

/** The kinds of worlds. */
export const kinds = ['delivery', 'tokens'] as const;

/** A kind of worlds. */
export type Kind = (typeof kinds)[number];

/** A world to run. */
export interface WorldName {
  readonly kind: Kind;
  readonly seed: number;
  readonly faultClass: FaultClass;
}

/** What became of a world of any kind. */
export interface KindResult extends WorldName {
  /** The same for the same world. */
  readonly digest: string;
  /** Events that came, or requests. */
  readonly asked: number;
  /** POSTs that were made, or answers with 200. */
  readonly done: number;
  readonly deaths: number;
  /** Milliseconds that something was late at most; 0 where nothing can be late. */
  readonly worstLateness: number;
  /** Seconds of processor time. */
  readonly cpu: number;
  readonly violations: readonly BrokenPromise[];
  /** Returns what happened to what a promise was broken for. */
  readonly trace: (about: string) => readonly Happening[];
}

/** A promise that is broken, and the id of the delivery, request or session for which it is. */
interface BrokenPromise {
  readonly what: string;
  readonly about?: string | undefined;
}

/** Runs a world. */
export async function runWorld({ kind, seed, faultClass }: WorldName): Promise<KindResult> {
  return { kind, ...(await runners[kind](seed, faultClass)) };
}

const runners: Readonly<Record<Kind, (seed: number, faultClass: FaultClass) => Promise<Omit<KindResult, 'kind'>>>> = {
  delivery: async (seed, faultClass) => {
    const { events, posts, violations, ...result } = await runSeed(seed, faultClass);
    const broken = violations.map(({ what, deliveryId }) => ({ what, about: deliveryId }));
    return { ...result, asked: events, done: posts, violations: broken };
  },
  tokens: async (seed, faultClass) => {
    const { requests, granted, ...result } = await runTokenSeed(seed, faultClass);
    return { ...result, asked: requests, done: granted, worstLateness: 0 };
  },
};
