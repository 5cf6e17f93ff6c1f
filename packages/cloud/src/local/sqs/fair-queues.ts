import type { EngineQueue } from './fauxqs.ts';

/**
 * Makes a queue of the engine fair, as SQS makes standard queues whose messages have a group: the messages of quiet groups
 * are received first, then those of noisy groups, beginning with the group that has the fewest messages in flight. A group
 * is noisy by its share of the messages in flight or of the recent processing time (from receipt to deletion, or until
 * now); see *How Amazon SQS fair queues work* in the developer guide. Fairness orders waiting messages and limits nothing:
 * noisy groups use whatever capacity the others leave.
 */
export function makeFair(queue: EngineQueue, now: () => number): void {
  const receivedAt = new Map<string, { readonly group: Group; readonly at: number }>();
  let done: { readonly group: Group; readonly at: number; readonly took: number }[] = [];
  const { dequeue, deleteMessage } = queue;

  /** Noisy groups, with their messages in flight. */
  const noisyGroups = (): ReadonlyMap<Group, number> => {
    const moment = now();
    const inFlight = new Map<Group, number>();
    const spent = new Map<Group, number>();
    const add = (sums: Map<Group, number>, group: Group, by: number) => sums.set(group, (sums.get(group) ?? 0) + by);
    done = done.filter(({ at }) => moment - at < recent);
    for (const { group, took } of done) add(spent, group, took);
    for (const [handle, { group, at }] of receivedAt) {
      if (!queue.inflightMessages.has(handle))
        receivedAt.delete(handle); // its visibility timeout has ended
      else {
        add(inFlight, group, 1);
        add(spent, group, moment - at);
      }
    }
    const total = (sums: Map<Group, number>) => [...sums.values()].reduce((sum, value) => sum + value, 0);
    const [messages, time] = [total(inFlight), total(spent)];
    const isNoisy = (group: Group): boolean => {
      const count = inFlight.get(group) ?? 0;
      const hasMany = count >= noisyCount && count > noisyShare * messages;
      return hasMany || (time > negligible && (spent.get(group) ?? 0) > noisyShare * time);
    };
    return new Map([...spent.keys()].filter(isNoisy).map(group => [group, inFlight.get(group) ?? 0]));
  };

  queue.dequeue = (...words) => {
    queue.processTimers(); // messages that have become visible take part
    if (queue.messages.some(({ messageGroupId }) => messageGroupId !== queue.messages[0]?.messageGroupId)) {
      const noisy = noisyGroups();
      if (noisy.size > 0) {
        const rank = ({ messageGroupId = '' }) => noisy.get(messageGroupId) ?? -1;
        queue.messages.sort((one, other) => rank(one) - rank(other)); // stable: each group keeps its own order
      }
    }
    const received = dequeue.apply(queue, words);
    for (const { ReceiptHandle: handle } of received) {
      const group = queue.inflightMessages.get(handle)?.message.messageGroupId;
      if (group !== undefined) receivedAt.set(handle, { group, at: now() });
    }
    return received;
  };

  queue.deleteMessage = handle => {
    const taken = receivedAt.get(handle);
    receivedAt.delete(handle);
    if (taken) done.push({ group: taken.group, at: now(), took: now() - taken.at });
    return deleteMessage.call(queue, handle);
  };
}

type Group = string;

/** Milliseconds for which a deleted message counts as recent. */
const recent = 60_000;

/** A group is noisy with at least this many messages in flight, and more than this share of all. The numbers are those of SQS. */
const noisyCount = 30;
const noisyShare = 0.1;

/** Milliseconds of processing in all below which no group counts as noisy. */
const negligible = 5_000;
