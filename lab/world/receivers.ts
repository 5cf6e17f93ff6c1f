import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import { makeRandom, type Random } from '../../tools/support/random.ts';
import { minute } from './times.ts';

/** The reaction of a receiver to a POST. */
export interface Reaction {
  /** The status of its response, or `refused` if it refuses the connection. */
  readonly status: number | 'refused';
  /** Milliseconds until it responds, or `Infinity` if it never does. */
  readonly afterMs: number;
  /** The seconds of its `Retry-After`. */
  readonly retryAfter?: number;
}

/** A POST that reached a receiver. */
export interface Post extends SentPost {
  readonly at: number;
  readonly deliveryId: string;
  readonly status: number;
  /** The unique body of the response, if there was a response. */
  readonly answer: string;
  /** The seconds in the response's `Retry-After`. */
  readonly retryAfter: number;
}

/** A POST as a process sends it. */
export interface SentPost {
  /** The consumer that sends it. */
  readonly functionName: string;
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
  /** The process's latest read of the delivery and of its webhook. */
  readonly read: Reading | undefined;
}

/** A delivery as a process read it, together with its webhook. */
export interface Reading {
  /** The time of the response to the read. */
  readonly at: number;
  readonly isConsistent: boolean;
  readonly head: Item | undefined;
  /** The webhooks in the same read. */
  readonly webhooks: readonly Item[];
  /** The slownesses in the same read. */
  readonly slownesses: readonly Item[];
}

/** Kinds of receivers, by their reaction at an age in milliseconds. */
export const receiverKinds: Readonly<Record<string, (random: Random, age: number) => Reaction>> = {
  quick: random => ({ status: 200, afterMs: 20 + 80 * random() }),
  fails: random => ({ status: random() < 0.3 ? 500 : 200, afterMs: 20 + 80 * random() }),
  hangs: (_, age) => ({ status: 200, afterMs: age < 1.5 * minute ? Number.POSITIVE_INFINITY : 50 }),
  slow: random => ({ status: 200, afterMs: random() < 0.5 ? 2_500 + 3_000 * random() : 50 }),
  refuses: (_, age) => ({ status: age < minute ? 'refused' : 200, afterMs: 20 }),
  gone: random => ({ status: random() < 0.2 ? 410 : 200, afterMs: 30 }),
  down: random => ({ status: 503, afterMs: 30, ...(random() < 0.2 && { retryAfter: Math.floor(200 * random()) }) }),
  lazy: random => ({ status: random() < 0.3 ? 500 : 200, afterMs: 1_900 }),
};

export type Receivers = ReturnType<typeof makeReceivers>;

/** Creates receivers, one per host, which record their requests and responses. */
export function makeReceivers(seed: number, now: () => number) {
  const startedAt = now();
  const posts = new Map<string, Post[]>();
  const reactions = new Map<string, () => Reaction>();
  return {
    add,
    react,
    take,
    postsOf,
    count,
    all: (): readonly Post[] => [...posts.values()].flat(),
  };

  /** Adds a receiver of a kind. */
  function add(host: string, kind: string): void {
    const random = makeRandom(seed * 1_000 + reactions.size);
    react(host, () => receiverKinds[kind]?.(random, now() - startedAt) ?? refusal);
  }

  /** Adds a receiver with a reaction to each POST. */
  function react(host: string, reaction: () => Reaction): void {
    reactions.set(host, reaction);
  }

  /** Records a POST, and returns the reaction to it. */
  function take(deliveryId: string, sent: SentPost): Reaction & Pick<Post, 'answer'> {
    const reaction = (reactions.get(sent.host) ?? (() => refusal))();
    const earlier = posts.get(deliveryId) ?? [];
    const answer = `${deliveryId} ${earlier.length + 1}`;
    const { status, retryAfter = 0 } = reaction;
    if (typeof status === 'number')
      posts.set(deliveryId, [...earlier, { ...sent, at: now(), deliveryId, status, answer, retryAfter }]);
    return { ...reaction, answer };
  }

  function postsOf(deliveryId: string): readonly Post[] {
    return posts.get(deliveryId) ?? [];
  }

  function count(): number {
    return [...posts.values()].reduce((sum, { length }) => sum + length, 0);
  }
}

const refusal: Reaction = { status: 'refused', afterMs: 0 };
