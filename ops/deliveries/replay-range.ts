import { hash } from 'node:crypto';
import { progressAt, type ReplayRange, replayIdOf } from '../../lambdas/delivery/replay/replay.ts';
import type { ReplayStore } from '../../lambdas/delivery/replay/replay-store.ts';
import { wireReplayStates, wireStates } from '../../lambdas/delivery/representation.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import type { AuditedTask } from '../audit/audit.ts';
import { CliError } from '../stage/operator.ts';
import type { Replayed, ReplayRequest } from './replay-deliveries.ts';

/** A webhook that has deliveries to replay. */
export interface ReplayedWebhook {
  readonly account: string;
  readonly event: EventName;
}

/** The outcome of one webhook's replay. `skipped`: none was begun, or it did not come to its end. */
export type RangeOutcome = ReplayedWebhook &
  ((Replayed & { readonly outcome: 'done' }) | { readonly outcome: 'skipped'; readonly reason: string });

/**
 * Runs the replay of one webhook to its end. `unique`: what its id is made of. `onBegun` is called once it has begun.
 *
 * @throws {CliError} where it cannot be begun, or did not come to its end.
 */
export type ReplayOne = (request: ReplayRequest, unique: string, onBegun: () => Promise<void>) => Promise<Replayed>;

/**
 * Replays a range of the deliveries of many webhooks, by account and event, ten at once. Each is told of by a line. With the same
 * range it goes on with the others: the id of a replay is made of its range, and one that exists is skipped, also where it was cancelled.
 *
 * @throws the first failure that is none of one webhook; no further replay is begun then.
 */
export async function replayRange(
  webhooks: readonly ReplayedWebhook[],
  range: ReplayRange,
  { find, replayOne }: { readonly find: ReplayStore['find']; readonly replayOne: ReplayOne },
  {
    tell,
    progress,
    nameDone,
    nameMore,
    now,
  }: Pick<AuditedTask, 'tell' | 'progress' | 'nameDone' | 'nameMore'> & { readonly now: () => number },
): Promise<RangeOutcome[]> {
  const waiting = [...webhooks].sort(byAccountAndEvent);
  const outcomes: RangeOutcome[] = [];
  const failures: unknown[] = [];
  let begun = 0;

  async function work(): Promise<void> {
    for (let webhook = waiting.shift(); webhook && failures.length === 0; webhook = waiting.shift()) {
      const outcome = await outcomeOf(webhook);
      outcomes.push(outcome);
      tell(`${webhook.account} ${webhook.event}: ${describe(outcome)}`);
      progress(`${outcomes.length} of ${webhooks.length} webhooks`);
    }
  }

  async function outcomeOf(webhook: ReplayedWebhook): Promise<RangeOutcome> {
    const { account, event } = webhook;
    const request = { account, event, ...range };
    const unique = uniqueOf(request);
    const existing = await find(account, event, replayIdOf(unique));
    if (existing) {
      const { replay, latest } = existing;
      const { state, sent } = replay.id === latest.id ? progressAt(latest, now()) : replay;
      const again = `"deliveries replay --account ${account} --event ${event} --state ${wireStates[range.wanted]} ${optionsOf(range)}"`;
      const rest = state === 'cancelled' ? `; ${sent} of ${replay.total} were sent: ${again} sends the rest` : '';
      const reason = `its replay of this range exists (${wireReplayStates[state]})${rest}`;
      return { ...webhook, outcome: 'skipped', reason };
    }
    try {
      const done = await replayOne(request, unique, () => onBegun(webhook, replayIdOf(unique)));
      return { ...webhook, outcome: 'done', ...done };
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return { ...webhook, outcome: 'skipped', reason: error.message };
    }
  }

  async function onBegun({ account, event }: ReplayedWebhook, replay: string): Promise<void> {
    begun += 1;
    nameDone({ count: begun });
    tell(`${account} ${event}: begun`);
    await nameMore({ account, event, replay });
  }

  await Promise.all(Array.from({ length: atOnce }, () => work().catch(error => failures.push(error))));
  if (failures.length > 0) throw failures[0];
  return outcomes.sort(byAccountAndEvent);
}

/** Returns the options that name a range again, whenever they are typed. */
export function optionsOf({ from, to }: ReplayRange): string {
  return `--since ${isoTime(from)} --until ${isoTime(to)}`;
}

/** Replays of one command that run at once: each sends ten deliveries a second. */
const atOnce = 10;

/** Returns what the id of a webhook's replay of a range is made of: the same for the same range. */
function uniqueOf({ account, event, from, to, wanted }: ReplayRequest): string {
  return hash('sha256', JSON.stringify([account, event, from, to, wanted])).slice(0, 22);
}

function byAccountAndEvent(one: ReplayedWebhook, other: ReplayedWebhook): number {
  const nameOf = ({ account, event }: ReplayedWebhook) => `${account}#${event}`;
  return nameOf(one) < nameOf(other) ? -1 : 1;
}

function describe(outcome: RangeOutcome): string {
  if (outcome.outcome === 'skipped') return `skipped: ${outcome.reason}`;
  return outcome.total === 0
    ? 'done, there was nothing to replay'
    : `done, ${outcome.sent} of ${outcome.total} deliveries queued`;
}
