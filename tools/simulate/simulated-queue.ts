/** A model of an SQS queue: it hands out messages in order of arrival, or fairly between accounts. */
export interface SimulatedQueue<Message extends { readonly account: string }> {
  push(message: Message): void;
  /** Takes up to so many; they are in flight until they are `done`. */
  take(most: number): Message[];
  done(message: Message): void;
  /** The number of messages that wait. */
  length(): number;
  /** Decides again which accounts are noisy; SQS does so with a delay. */
  observe(): void;
}

/** Makes an empty queue. `isFair`: messages of accounts that are not noisy go first. */
export function makeSimulatedQueue<Message extends { readonly account: string }>(
  isFair: boolean,
): SimulatedQueue<Message> {
  const groups = new Map<string, { waiting: Waiting<Message>[]; first: number; inFlight: number; isNoisy: boolean }>();
  let order = 0;
  let waitingCount = 0;
  let inFlightCount = 0;

  const groupOf = (account: string) => {
    const name = isFair ? account : '';
    const found = groups.get(name) ?? { waiting: [], first: 0, inFlight: 0, isNoisy: false };
    groups.set(name, found);
    return found;
  };
  const next = () => {
    let best: ReturnType<typeof groupOf> | undefined;
    for (const group of groups.values()) {
      const head = group.waiting[group.first];
      if (!head) continue;
      const bestHead = best?.waiting[best.first];
      const isBetter =
        !best || !bestHead || (group.isNoisy === best.isNoisy ? head.order < bestHead.order : best.isNoisy);
      if (isBetter) best = group;
    }
    return best;
  };

  return {
    push: message => {
      groupOf(message.account).waiting.push({ order: order++, message });
      waitingCount += 1;
    },
    take: most => {
      const taken: Message[] = [];
      while (taken.length < most && waitingCount > 0) {
        const group = next();
        const head = group?.waiting[group.first];
        if (!group || !head) break;
        group.first += 1;
        if (group.first > 1_000 && group.first * 2 > group.waiting.length) {
          group.waiting = group.waiting.slice(group.first);
          group.first = 0;
        }
        group.inFlight += 1;
        waitingCount -= 1;
        inFlightCount += 1;
        taken.push(head.message);
      }
      return taken;
    },
    done: message => {
      groupOf(message.account).inFlight -= 1;
      inFlightCount -= 1;
    },
    length: () => waitingCount,
    observe: () => {
      for (const group of groups.values()) {
        group.isNoisy = group.inFlight >= noisyCount && group.inFlight > noisyShare * inFlightCount;
      }
    },
  };
}

interface Waiting<Message> {
  readonly order: number;
  readonly message: Message;
}

const noisyCount = 30;

/** SQS fair queues take a group for noisy with more than this share of all messages in flight, and at least `noisyCount`. */
const noisyShare = 0.1;
