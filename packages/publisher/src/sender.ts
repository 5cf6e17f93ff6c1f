import { batchSize, type Queue, type Result, sendBatch } from './batch.ts';
import type { Message } from './message.ts';

/** Sends messages as they come, ten a request and a few requests at once. */
export interface Sender {
  /** Takes a message. Resolves when the next one can be taken. */
  add(message: Message): Promise<void>;
  /** Sends the waiting messages, and returns the results of all. */
  finish(): Promise<readonly Result[]>;
}

/** Makes a sender of at most this many requests at once. */
export function makeSender(queue: Queue, concurrency: number, signal: AbortSignal | undefined): Sender {
  const results: Result[] = [];
  const underWay = new Set<Promise<void>>();
  let batch: Message[] = [];

  async function send(): Promise<void> {
    while (underWay.size >= concurrency) await Promise.race(underWay);
    const request = sendBatch(queue, batch, signal).then(answered => {
      results.push(...answered);
      underWay.delete(request);
    });
    underWay.add(request);
    batch = [];
  }

  return {
    async add(message) {
      batch.push(message);
      if (batch.length === batchSize) await send();
    },
    async finish() {
      if (batch.length > 0) await send();
      await Promise.all(underWay);
      return results;
    },
  };
}
