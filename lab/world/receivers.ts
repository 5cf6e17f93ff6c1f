import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import { makeRandom, type Random } from '../../tools/support/random.ts';
import { minute } from './times.ts';

/** A receiver's reaction to a POST. */
export interface Reaction {
  /** The HTTP status of the response, or `refused` if the receiver refuses the connection. */
  readonly status: number | 'refused';
  /** The time until the response in milliseconds, or `Infinity` if the receiver never responds. */
  readonly afterMs: number;
  /** The value of the `Retry-After` header, in seconds. */
  readonly retryAfter?: number;
}

/** A POST that reached a receiver. */
export interface Post extends SentPost {
  readonly at: number;
  readonly deliveryId: string;
  readonly status: number;
  /** The body of the response, which is unique. */
  readonly responseBody: string;
  /** The value of the response's `Retry-After` header in seconds, or 0. */
  readonly retryAfter: number;
}

/** A POST that a process sends. */
export interface SentPost {
  /** The function that sends the POST. */
  readonly functionName: string;
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
  /** The process's latest read of the delivery and its webhook. */
  readonly read: Reading | undefined;
}

/** A consumer's read of a delivery and its webhook. */
export interface Reading {
  /** The time of the response to the read. */
  readonly at: number;
  readonly isConsistent: boolean;
  readonly head: Item | undefined;
  /** All webhooks in the read. */
  readonly webhooks: readonly Item[];
  /** All slowness items in the read. */
  readonly slownesses: readonly Item[];
}

/** The kinds of receivers. Each function returns the reaction for the age of the world in milliseconds. */
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

/** Creates an empty set of receivers, one per host. The set records POSTs and responses. */
export function makeReceivers(seed: number, now: () => number) {
  const startedAt = now();
  const posts = new Map<string, Post[]>();
  const reactions = new Map<string, () => Reaction>();
  return {
    add,
    setReaction,
    handlePost,
    postsOf,
    count,
    all: (): readonly Post[] => [...posts.values()].flat(),
  };

  function add(host: string, kind: string): void {
    const random = makeRandom(seed * 1_000 + reactions.size);
    setReaction(host, () => receiverKinds[kind]?.(random, now() - startedAt) ?? refusedConnection);
  }

  /** Adds a receiver. Calls `reaction` for each POST to it. */
  function setReaction(host: string, reaction: () => Reaction): void {
    reactions.set(host, reaction);
  }

  /** Records a POST and returns the receiver's reaction. */
  function handlePost(deliveryId: string, sent: SentPost): Reaction & Pick<Post, 'responseBody'> {
    const reaction = (reactions.get(sent.host) ?? (() => refusedConnection))();
    const earlier = posts.get(deliveryId) ?? [];
    const responseBody = `${deliveryId} ${earlier.length + 1}`;
    const { status, retryAfter = 0 } = reaction;
    if (typeof status === 'number')
      posts.set(deliveryId, [...earlier, { ...sent, at: now(), deliveryId, status, responseBody, retryAfter }]);
    return { ...reaction, responseBody };
  }

  function postsOf(deliveryId: string): readonly Post[] {
    return posts.get(deliveryId) ?? [];
  }

  function count(): number {
    return [...posts.values()].reduce((sum, { length }) => sum + length, 0);
  }
}

const refusedConnection: Reaction = { status: 'refused', afterMs: 0 };
