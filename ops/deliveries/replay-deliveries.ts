import { progressAt, type Replay, type ReplayRange } from '../../lambdas/delivery/replay/replay.ts';
import type { StartReplay } from '../../lambdas/delivery/replay/replay-start.ts';
import type { FindWebhook } from '../../lambdas/delivery/store/find-webhook.ts';
import type { Pause } from '../../lambdas/platform/timer.ts';
import { wireReasons } from '../../lambdas/webhooks/representation.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import type { AuditedTask } from '../audit/audit.ts';
import { CliError } from '../stage/operator.ts';
import { openRetryQueue } from '../stage/queues.ts';
import { openReplays } from '../stage/stores.ts';
import { noWebhook } from './webhooks.ts';

/** The choice of deliveries to replay. */
export interface ReplayRequest extends ReplayRange {
  readonly account: string;
  readonly event: EventName;
}

export interface Replayed {
  readonly id: string;
  readonly total: number;
  readonly sent: number;
}

/** Replays a range of deliveries of one webhook of the target, and waits for the end of the replay. @throws {CliError} */
export function replayWebhook({ target, ...task }: AuditedTask, request: ReplayRequest): Promise<Replayed> {
  const replays = openReplays(target, openRetryQueue(target));
  return replayDeliveries(request, { ...replays, now: target.clock.now, pause: target.pause }, task);
}

/**
 * Replays a range of deliveries of one webhook and waits for the end of the replay. If the command ends before that, the
 * service goes on.
 *
 * @throws {CliError} where it cannot begin, or was cancelled on the way.
 */
export async function replayDeliveries(
  request: ReplayRequest,
  {
    findWebhook,
    findLatest,
    start,
    now,
    pause,
  }: {
    readonly findWebhook: FindWebhook;
    findLatest(accountId: string, eventName: EventName): Promise<Replay | undefined>;
    readonly start: StartReplay;
    readonly now: () => number;
    readonly pause: Pause;
  },
  { progress, nameDone }: Pick<AuditedTask, 'progress' | 'nameDone'>,
): Promise<Replayed> {
  for (let replay = await begin(request, { findWebhook, start }); ; ) {
    const { state, sent } = progressAt(replay, now());
    const { id, total } = replay;
    nameDone({ replay: id, count: sent });
    if (state === 'completed') return { id, total, sent };
    if (state === 'cancelled') {
      throw new CliError(
        `the replay was cancelled after ${sent} of ${total} deliveries: by its account, or because the webhook was suspended or deleted.`,
      );
    }
    progress(describe(replay, sent));
    await pause(betweenLooks);
    const latest = await findLatest(request.account, request.event);
    if (latest?.id !== id) throw new CliError('the replay was replaced by another one: its webhook is a new one.');
    replay = latest;
  }
}

/** Begins a replay, which the service goes on with. @throws {CliError} where it cannot begin. */
export async function begin(
  { account, event, ...range }: ReplayRequest,
  { findWebhook, start }: { readonly findWebhook: FindWebhook; readonly start: StartReplay },
): Promise<Replay> {
  const name = `the webhook of account "${account}" for ${event}`;
  const webhook = await findWebhook(account, event);
  if (!webhook) throw noWebhook({ account, event });
  if (webhook.status === 'suspended') {
    throw new CliError(
      `${name} is suspended (${webhook.suspensionReason && wireReasons[webhook.suspensionReason]}): "webhooks reactivate" first.`,
    );
  }
  const begun = await start(webhook, range);
  if (!begun) throw new CliError(`the latest replay of ${name} changed just now: type it again.`);
  if (begun.outcome === 'running') throw new CliError(`a replay of ${name} is under way: wait for its end.`);
  return begun.replay;
}

function describe({ total, countCursor }: Replay, sent: number): string {
  return countCursor === null
    ? `Sent ${sent} of ${total} deliveries, ten a second`
    : `Counting: ${total} deliveries so far`;
}

/** A replay that is under way is looked at again after this time. Milliseconds. */
const betweenLooks = 1_000;
