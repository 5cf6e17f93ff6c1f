import type { EngineQueue } from './fauxqs.ts';

/**
 * Makes a queue of the engine fair, as SQS makes standard queues whose messages have a group: while a group is noisy, what
 * quiet groups have waiting is handed out first, then what the noisy ones have, those first that have the least in
 * flight. A group is noisy by its share of the messages in flight or of the recent processing time (from receipt to
 * deletion, or until now), either as the developer guide says (*How Amazon SQS fair queues work*). It is an order of
 * waiting messages, no limit: what is under way stays, and noisy groups take whatever capacity the others leave.
 */
export function makeFair(queue: EngineQueue, now: () => number): void {
  const receivedAt = new Map<string, { readonly group: Group; readonly at: number }>();
  let done: { readonly group: Group; readonly at: number; readonly took: number }[] = [];
  const { dequeue, deleteMessage } = queue;

  /** With how many messages each has in flight. */
  const noisyGroups = (): ReadonlyMap<Group, number> => {
    const moment = now();
    const inFlight = new Map<Group, number>();
    const spent = new Map<Group, number>();
    const add = (sums: Map<Group, number>, group: Group, by: number) => sums.set(group, (sums.get(group) ?? 0) + by);
    done = done.filter(({ at }) => moment - at < recent);
    for (const { group, took } of done) add(spent, group, took);
    for (const [handle, { group, at }] of receivedAt) {
      if (!queue.inflightMessages.has(handle))
        receivedAt.delete(handle); // its visibility has ended
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
    queue.processTimers(); // what has become visible takes part
    if (queue.messages.some(({ messageGroupId }) => messageGroupId !== queue.messages[0]?.messageGroupId)) {
      const noisy = noisyGroups();
      if (noisy.size > 0) {
        const rank = ({ messageGroupId = '' }) => noisy.get(messageGroupId) ?? -1;
        queue.messages.sort((one, other) => rank(one) - rank(other)); // stable: each group's own order stays
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

/** How long what is done counts as recent, in milliseconds. */
const recent = 60_000;

const noisyCount = 30;

/** SQS's own figures: a group is noisy with more than this share of what is under way, and at least so many messages. */
const noisyShare = 0.1;

/** With less processing time than this in all, in milliseconds, nobody is called noisy. */
const negligible = 5_000;
