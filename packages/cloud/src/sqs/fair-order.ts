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
 * Creates the order of a queue's waiting messages: returned messages first, then the oldest. In a fair queue quiet groups precede
 * noisy ones, which are ordered by their messages in flight, fewest first. A group is noisy by its share of the messages in flight,
 * or of the processing time of about the last minute; see *How Amazon SQS fair queues work* in the guide.
 */
export function makeFairOrder<Message extends Ordered>(now: () => number, isFair: boolean) {
  const groups = new Map<string, Group<Message>>();
  const whole = makeLoad(now);
  let size = 0;
  return { size: () => size, push, next, took, left };

  function push(message: Message): void {
    groupOf(message).waiting.push(message);
    size += 1;
  }

  /** Removes and returns the next message. It is in flight until `left` is called. */
  function next(): Message | undefined {
    let best: { readonly group: Group<Message>; readonly first: Message; readonly place: number } | undefined;
    for (const group of groups.values()) {
      const first = group.waiting.first();
      if (!first) continue;
      const place = isNoisy(group) ? group.load.inFlight() : -1; // quiet groups share the first one
      if (!best || place < best.place || (place === best.place && isBefore(first, best.first))) {
        best = { group, first, place };
      }
    }
    if (!best) return undefined;
    size -= 1;
    took(best.first);
    return best.group.waiting.shift();
  }

  /** Records that a message is in flight. */
  function took(message: Message): void {
    groupOf(message).load.add(1);
    whole.add(1);
  }

  /** Records that a message is no longer in flight. */
  function left(message: Message): void {
    groupOf(message).load.add(-1);
    whole.add(-1);
  }

  function isNoisy({ load }: Group<Message>): boolean {
    if (groups.size < 2) return false;
    const hasMany = load.inFlight() >= noisyCount && load.inFlight() > noisyShare * whole.inFlight();
    return hasMany || (whole.recent() > negligible && load.recent() > noisyShare * whole.recent());
  }

  function groupOf({ group }: Message): Group<Message> {
    const name = isFair ? group : '';
    const found = groups.get(name) ?? { waiting: makeHeap<Message>(isBefore), load: makeLoad(now) };
    groups.set(name, found);
    return found;
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

/** Creates a counter of messages in flight and of their recent time in flight, which decays exponentially. */
function makeLoad(now: () => number) {
  let inFlight = 0;
  let time = 0;
  let countedAt = now();
  return { inFlight: () => inFlight, recent, add };

  function recent(): number {
    const kept = Math.exp((countedAt - now()) / memory);
    time = time * kept + inFlight * memory * (1 - kept);
    countedAt = now();
    return time;
  }

  function add(messages: number): void {
    recent();
    inFlight += messages;
  }
}

/** The decay time in milliseconds. */
const memory = 60_000;

/** A noisy group has at least this many messages in flight, and more than this share of all. SQS uses these numbers. */
const noisyCount = 30;
const noisyShare = 0.1;

/** If the total processing time is below this, in milliseconds, no group is noisy. */
const negligible = 5_000;
