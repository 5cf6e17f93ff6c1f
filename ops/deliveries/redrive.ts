import { makeFindWebhook } from '../../lambdas/delivery/store/find-webhook.ts';
import type { AuditedTask } from '../audit/audit.ts';
import { copyKey, type DeadLetter, openQueues } from '../stage/queues.ts';
import { requireOutput } from '../stage/target.ts';
import { type Destination, destinationOf, moveDeadLetter } from './move-dead-letter.ts';
import { continueCommand, interrupted, noDeadLetter, type RemainingDeadLetter } from './no-dead-letter.ts';

interface RedriveOptions {
  readonly ids: readonly string[];
  /** The maximum number of messages a second. */
  readonly rate: number;
  /** The maximum number of messages to move. */
  readonly limit: number;
}

/**
 * Moves dead-letter messages until the queue is empty or the limit is reached. At the end, the messages that were
 * received but not moved become visible again.
 * @throws {CliError} if a requested message was not among the received messages.
 */
export async function redrive(
  { target, progress, warn, recordResult, recordTarget, interruption }: AuditedTask,
  { ids, rate, limit }: RedriveOptions,
) {
  const [requested, missing] = [new Set(ids), new Set(ids)];
  const queues = openQueues(target);
  const findWebhook = makeFindWebhook(target.dynamo, requireOutput(target, 'WebhooksTable'));
  const before = await queues.countInFlight();
  const kept = new Map<string, RemainingDeadLetter>();
  const moved = new Set<string>();
  const inFlight = new Map<string, Promise<void>>();
  const failures: unknown[] = [];
  let [isCutOff, isInterrupted, nextAt, readCount] = [false, false, 0, 0];
  // Any number of other messages may precede the messages that can be moved.
  for await (const message of queues.deadLetters(maxDeadLetters, { settle: () => Promise.all(inFlight.values()) })) {
    readCount += 1;
    const wait = nextAt - target.clock.now();
    if (wait > 0) await target.pause(wait);
    isInterrupted = interruption?.aborted === true;
    if (isInterrupted) break;
    if (requested.size > 0 && !requested.has(message.origin.messageId)) continue;
    const key = copyKey(message);
    await inFlight.get(key);
    while (inFlight.size > 0 && inFlight.size >= Math.min(atOnce, limit - moved.size)) {
      await Promise.race(inFlight.values());
    }
    if (failures.length > 0) break;
    if (moved.has(key)) {
      await queues.remove(message);
      continue;
    }
    isCutOff = moved.size === limit;
    if (isCutOff) break;
    missing.delete(message.origin.messageId);
    const destination = destinationOf(message);
    if ('reason' in destination) {
      keep(message, destination.reason);
      continue;
    }
    nextAt = Math.max(nextAt, target.clock.now()) + 1_000 / rate;
    const moving = move(message, destination).catch(error => {
      failures.push(error);
      if (requested.has(message.origin.messageId)) missing.add(message.origin.messageId);
    });
    inFlight.set(
      key,
      moving.finally(() => inFlight.delete(key)),
    );
  }
  if (failures.length > 0) throw failures[0];
  if (isInterrupted && (requested.size === 0 || missing.size > 0)) throw interrupted('redrive', missing); // otherwise, only copies can remain
  warnOfOthers(readCount, warn);
  const after = await queues.countInFlight();
  const done = { moved: moved.size, kept: [...kept.values()] };
  if (missing.size === 0 || isCutOff) {
    return { ...done, inFlight: Math.min(before, after), isCutOff, next: continueCommand('redrive', missing) };
  }
  for (const { messageId, detail } of done.kept) warn(`message ${messageId} was not moved: ${detail}`);
  throw noDeadLetter([...missing], Math.max(before, after));

  async function move(deadLetter: DeadLetter, destination: Destination): Promise<void> {
    const reason = await moveDeadLetter(queues, findWebhook, deadLetter, destination);
    if (reason !== undefined) return keep(deadLetter, reason);
    moved.add(copyKey(deadLetter));
    recordTarget('messages', deadLetter.origin.messageId);
    recordResult({ count: moved.size });
    showProgress();
  }

  function keep(deadLetter: DeadLetter, detail: string): void {
    kept.set(copyKey(deadLetter), { messageId: deadLetter.origin.messageId, detail });
    showProgress();
  }

  function showProgress(): void {
    progress(`Moved ${moved.size}, kept ${kept.size}`);
  }
}

/** Warns if the search ended at its limit, because there may be more messages. */
export function warnOfOthers(readCount: number, warn: AuditedTask['warn']): void {
  if (readCount < maxDeadLetters) return;
  warn(
    `only the first ${maxDeadLetters} dead-letter messages were read. Redrive or discard the remaining ones, then run the command again`,
  );
}

/** The maximum number of dead-letter messages that one command reads. */
export const maxDeadLetters = 100_000;

/** The maximum number of concurrent moves, which make three calls each. The rate determines when the next move starts. */
const atOnce = 64;
