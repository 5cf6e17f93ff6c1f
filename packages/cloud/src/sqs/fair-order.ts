import { makeHeap } from '../heap.ts';

/** The fields of a message that determine its order. */
export interface Ordered {
  readonly group: string;
  /** The sequence number, which increases with each sent message. */
  readonly order: number;
  /** The number of receives. */
  readonly receives: number;
}

/**
 * Creates the ordered collection of a queue's waiting messages. Messages that were received before precede new ones. Otherwise, the
 * order is oldest first. In a fair queue, quiet groups precede noisy groups. A group is noisy if its share of in-flight messages or of recent
 * processing time is high. See *How Amazon SQS fair queues work* in the developer guide.
 */
export function makeFairOrder<Message extends Ordered>(now: () => number, isFair: boolean) {
  const groups = new Map<string, Group<Message>>();
  const total = makeLoad(now);
  let size = 0;
  return { size: () => size, push, next, markInFlight, unmarkInFlight };

  function push(message: Message): void {
    groupOf(message).waiting.push(message);
    size += 1;
  }

  /** Removes and returns the next message. The message is in flight until the caller calls `unmarkInFlight`. */
  function next(): Message | undefined {
    let best: { readonly group: Group<Message>; readonly first: Message; readonly rank: number } | undefined;
    for (const group of groups.values()) {
      const first = group.waiting.first();
      if (!first) continue;
      const rank = isNoisy(group) ? group.load.inFlight() : -1; // all quiet groups have the same rank
      if (!best || rank < best.rank || (rank === best.rank && isBefore(first, best.first))) {
        best = { group, first, rank };
      }
    }
    if (!best) return undefined;
    size -= 1;
    markInFlight(best.first);
    return best.group.waiting.shift();
  }

  /** Records that a message is in flight. */
  function markInFlight(message: Message): void {
    groupOf(message).load.add(1);
    total.add(1);
  }

  /** Records that a message is no longer in flight. */
  function unmarkInFlight(message: Message): void {
    groupOf(message).load.add(-1);
    total.add(-1);
  }

  function isNoisy({ load }: Group<Message>): boolean {
    if (groups.size < 2) return false;
    const hasMany = load.inFlight() >= noisyCount && load.inFlight() > noisyShare * total.inFlight();
    return hasMany || (total.recent() > minRecentTime && load.recent() > noisyShare * total.recent());
  }

  function groupOf({ group }: Message): Group<Message> {
    const name = isFair ? group : '';
    const entry = groups.get(name) ?? { waiting: makeHeap<Message>(isBefore), load: makeLoad(now) };
    groups.set(name, entry);
    return entry;
  }
}

interface Group<Message extends Ordered> {
  readonly waiting: ReturnType<typeof makeHeap<Message>>;
  readonly load: ReturnType<typeof makeLoad>;
}

function isBefore(one: Ordered, other: Ordered): boolean {
  const isReturned = one.receives > 0;
  return isReturned === other.receives > 0 ? one.order < other.order : isReturned;
}

/** Creates a counter of in-flight messages. It also measures their recent time in flight, with exponential decay. */
function makeLoad(now: () => number) {
  let inFlight = 0;
  let time = 0;
  let countedAt = now();
  return { inFlight: () => inFlight, recent, add };

  function recent(): number {
    const remaining = Math.exp((countedAt - now()) / decayTime);
    time = time * remaining + inFlight * decayTime * (1 - remaining);
    countedAt = now();
    return time;
  }

  function add(messages: number): void {
    recent();
    inFlight += messages;
  }
}

/** The time constant of the decay, in milliseconds. */
const decayTime = 60_000;

/** A noisy group has at least 30 in-flight messages and more than 10% of all in-flight messages. SQS uses the same limits. */
const noisyCount = 30;
const noisyShare = 0.1;

/** The minimum total processing time in milliseconds. Below it, no group is noisy because of its processing time. */
const minRecentTime = 5_000;
