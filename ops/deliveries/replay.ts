import type { Replay, ReplayRange } from '../../lambdas/delivery/replay/replay.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import type { AuditedTask } from '../audit/audit.ts';
import { CliError } from '../stage/operator.ts';
import { openDeliveries, openReplayStore, openReplays } from '../stage/stores.ts';
import { countUndelivered } from './deliveries.ts';
import { reasonOf } from './event-verdict.ts';
import { noWebhook } from './webhooks.ts';

/** Selects the deliveries of one webhook to replay. */
export interface ReplayRequest extends ReplayRange {
  readonly account: string;
  readonly event: EventName;
}

/** A replay that has read its range once. A running replay reads it a second time, because the index lags. */
export type Replayed = Pick<Replay, 'id' | 'state' | 'sent'>;

/** A webhook that has deliveries to replay. */
export interface ReplayedWebhook {
  readonly account: string;
  readonly event: EventName;
}

/** The outcome of one webhook's replay. `skipped` means that the replay did not start or was cancelled. */
export type ReplayOutcome = ReplayedWebhook &
  ((Replayed & { readonly outcome: 'done' }) | { readonly outcome: 'skipped'; readonly reason: string });

/**
 * Replays a range of one webhook's deliveries and waits until all are queued. If the command ends early, the service
 * continues the replay.
 * @throws {CliError} if the replay cannot start or is cancelled.
 */
export function replayWebhook({ target, ...task }: AuditedTask, request: ReplayRequest): Promise<Replayed> {
  return runReplay(request, openReplays(target), {
    onStarted: async () => {},
    onProgress: ({ id, sent }) => {
      task.recordResult({ replay: id, count: sent });
      task.progress(`Queued ${sent} deliveries, 10 a second`);
    },
  });
}

/**
 * Cancels a running replay. The call can be repeated.
 *
 * @throws {CliError} if the replay does not exist or has already ended.
 */
export async function cancelReplay(
  { target }: AuditedTask,
  { account, event, id }: ReplayedWebhook & { readonly id: string },
): Promise<Replayed> {
  const { find, end } = openReplayStore(target);
  const replay = await find(account, event, id);
  if (!replay) throw new CliError(`Account "${account}" has no replay ${id} for ${event}.`);
  const { state, sent } = replay;
  const isCancelled = state === 'cancelled' || (state === 'running' && (await end(replay, 'cancelled')));
  if (!isCancelled) throw new CliError(`The replay has already ended. It queued ${sent} deliveries.`);
  return { id, state: 'cancelled', sent };
}

/**
 * Replays a range of deliveries for all webhooks of one account or of all accounts, and waits until all are queued. The
 * call can be repeated, because resent deliveries are no longer in the requested state.
 * @throws {CliError} if the operator does not confirm.
 */
export async function replayAll(
  task: AuditedTask,
  { account, ...range }: ReplayRange & { readonly account?: string | undefined },
): Promise<readonly ReplayOutcome[]> {
  const { target, confirm } = task;
  const webhooks = await webhooksWith(task, account, range);
  if (webhooks.length === 0) return [];
  const count = webhooks.length > maxCounted ? `more than ${maxCounted.toLocaleString('en')}` : webhooks.length;
  const whose = account === undefined ? target.label : `account "${account}" of ${target.label}`;
  await confirm(
    `This resends deliveries of ${count} webhook${count === 1 ? '' : 's'} of ${whose}, 10 webhooks at a time, at 10 deliveries a second for each webhook.`,
  );
  const replays = openReplays(target);
  return replayEach(webhooks, task, (webhook, onStarted) =>
    runReplay({ ...webhook, ...range }, replays, { onStarted, onProgress: () => {} }),
  );
}

/**
 * Runs the replays of many webhooks, 10 at a time, and prints a line about each.
 * @throws the first failure that affects more than one webhook. No further replay starts after that failure.
 */
export async function replayEach(
  webhooks: readonly ReplayedWebhook[],
  {
    print,
    progress,
    recordResult,
    appendTargets,
  }: Pick<AuditedTask, 'print' | 'progress' | 'recordResult' | 'appendTargets'>,
  replayOne: (webhook: ReplayedWebhook, onStarted: (replay: string) => Promise<void>) => Promise<Replayed>,
): Promise<readonly ReplayOutcome[]> {
  const waiting = [...webhooks];
  const outcomes: ReplayOutcome[] = [];
  let started = 0;
  const results = await Promise.allSettled(Array.from({ length: maxAtOnce }, () => work()));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return outcomes;

  async function work(): Promise<void> {
    for (let webhook = waiting.shift(); webhook; webhook = waiting.shift()) {
      const outcome = await outcomeOf(webhook);
      outcomes.push(outcome);
      print(`${webhook.account} ${webhook.event}: ${describe(outcome)}`);
      progress(`${outcomes.length} of ${webhooks.length} webhooks`);
    }
  }

  async function outcomeOf(webhook: ReplayedWebhook): Promise<ReplayOutcome> {
    try {
      const done = await replayOne(webhook, async replay => {
        recordResult({ count: ++started });
        await appendTargets({ ...webhook, replay });
      });
      return { ...webhook, outcome: 'done', ...done };
    } catch (error) {
      if (error instanceof CliError) return { ...webhook, outcome: 'skipped', reason: error.message };
      waiting.length = 0;
      throw error;
    }
  }
}

/** Starts the replay of one webhook and waits until it has read its range once. @throws {CliError} if it fails. */
async function runReplay(
  request: ReplayRequest,
  replays: ReturnType<typeof openReplays>,
  {
    onStarted,
    onProgress,
  }: {
    readonly onStarted: (replay: string) => Promise<void>;
    readonly onProgress: (replay: Replay) => void;
  },
): Promise<Replayed> {
  let replay = await startReplay(request, replays);
  await onStarted(replay.id);
  for (;;) {
    const { id, state, sent, pass } = replay;
    onProgress(replay);
    if (state === 'cancelled') {
      throw new CliError(
        `The replay was cancelled after ${sent} deliveries. Its account or an operator cancelled it, or the webhook was suspended or deleted.`,
      );
    }
    if (state === 'completed' || pass === 2) return { id, state, sent };
    await replays.pause(pollInterval);
    const latest = await replays.findLatest(request.account, request.event);
    if (latest?.id !== id) throw new CliError('The replay of a new registration replaced this replay.');
    replay = latest;
  }
}

/** Starts a replay, which the service continues. @throws {CliError} if it cannot start. */
async function startReplay(
  { account, event, ...range }: ReplayRequest,
  { findWebhook, start }: Pick<ReturnType<typeof openReplays>, 'findWebhook' | 'start'>,
): Promise<Replay> {
  const name = `the webhook of account "${account}" for ${event}`;
  const webhook = await findWebhook(account, event);
  if (!webhook) throw noWebhook({ account, event });
  if (webhook.status === 'suspended') {
    throw new CliError(`${name} is suspended: ${reasonOf(webhook)}. Run "webhooks reactivate" first.`);
  }
  const started = await start(webhook, range);
  if (!started) throw new CliError(`The latest replay of ${name} changed at the same time. Run the command again.`);
  if (started.outcome === 'running')
    throw new CliError(
      `a replay of ${name} is in progress (${started.replay.id}). Wait until it ends, or cancel it with --cancel.`,
    );
  return started.replay;
}

/** Returns the webhooks with deliveries in a range. Queries the partitions of one account, or scans the index for all. */
async function webhooksWith(
  { target, progress }: AuditedTask,
  account: string | undefined,
  { from, to, sourceState: state }: ReplayRange,
): Promise<readonly ReplayedWebhook[]> {
  if (account === undefined) {
    const query = { since: from, until: to, state, limit: Number.POSITIVE_INFINITY };
    const counts = await countUndelivered(target, query, progress);
    return counts.map(({ accountId, eventName }) => ({ account: accountId, event: eventName }));
  }
  const { history } = openDeliveries(target);
  const query = { accountId: account, state, from, before: to, registration: null, limit: 1, after: undefined };
  const pages = await Promise.all(EVENT_NAMES.map(eventName => history({ ...query, eventName })));
  // A page can be empty although more pages follow.
  const events = EVENT_NAMES.filter((_, at) => pages[at]?.deliveries.length || pages[at]?.next !== undefined);
  return events.map(event => ({ account, event }));
}

function describe(outcome: ReplayOutcome): string {
  if (outcome.outcome === 'skipped') return `skipped: ${outcome.reason}`;
  return outcome.sent === 0 ? 'no deliveries to replay' : `${outcome.sent} deliveries queued`;
}

/** The maximum number of webhooks that the question shows. */
const maxCounted = 1_000;

/** The maximum number of concurrent replays per command. Each replay queues 10 deliveries a second. */
const maxAtOnce = 10;

/** The interval at which the state of a replay is read, in milliseconds. */
const pollInterval = 1_000;
