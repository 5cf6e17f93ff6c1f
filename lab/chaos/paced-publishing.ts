import { setTimeout as pause } from 'node:timers/promises';
import type { PreparedRun } from './prepared-run.ts';
import type { Registration } from './registrations.ts';

/** The moments when events were published, by delivery id, in milliseconds since the epoch. */
export type Moments = ReadonlyMap<string, number>;

/** Publishes events evenly for `length` milliseconds, one registration after the other, `rate` a second of each. */
export async function publishEvenly(
  { publish }: Pick<PreparedRun, 'publish'>,
  registrations: readonly Registration[],
  rate: number,
  length: number,
  onPublished: (registration: Registration, deliveryId: string) => void = () => undefined,
): Promise<Moments> {
  const published: Promise<readonly [string, number]>[] = [];
  const start = Date.now();
  const total = Math.round((length / 1_000) * rate * registrations.length);
  for (let index = 0; index < total; index++) {
    await pause(Math.max(0, start + (length * index) / total - Date.now()));
    published.push(publishOne(registrations[index % registrations.length] as Registration));
  }
  return new Map(await Promise.all(published));

  async function publishOne(registration: Registration): Promise<readonly [string, number]> {
    const at = Date.now();
    const [id = ''] = await publish(registration, 1);
    onPublished(registration, id);
    return [id, at];
  }
}

/** Publishes `count` events of each registration at once. */
export async function publishTogether(
  { publish }: Pick<PreparedRun, 'publish'>,
  registrations: readonly Registration[],
  count: number,
): Promise<void> {
  const batches = Array.from({ length: Math.ceil(count / largestBatch) }, (_, index) =>
    Math.min(largestBatch, count - index * largestBatch),
  );
  await Promise.all(registrations.flatMap(registration => batches.map(size => publish(registration, size))));
}

/** Messages that are published in one call, at most. */
const largestBatch = 10;
