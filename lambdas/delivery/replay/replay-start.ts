import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { replaySlotInterval } from '../limits.ts';
import { keysUntil } from '../store/delivery-item.ts';
import { progressAt, type Replay, type ReplayRange, replayIdOf } from './replay.ts';
import type { RunReplay } from './replay-runner.ts';
import type { ReplayStore } from './replay-store.ts';

/**
 * Starts a replay for a webhook and sends what is due at once, or returns the one that is running. `undefined`: the latest one changed
 * meanwhile, and nothing was started. It may be tried again.
 */
export type StartReplay = (
  webhook: Webhook,
  range: ReplayRange,
) => Promise<{ readonly outcome: 'started' | 'running'; readonly replay: Replay } | undefined>;

/** Returns the function that starts replays, for accounts and for operators. */
export function makeStartReplay(dependencies: {
  readonly replays: Pick<ReplayStore, 'findLatest' | 'start'>;
  readonly run: RunReplay;
  readonly makeId: MakeId;
  readonly now: Clock;
  readonly log: Log;
}): StartReplay {
  const { replays, run, makeId, now, log } = dependencies;
  return async function startReplay(webhook, { from, to: end, wanted }) {
    const { accountId, eventName, webhookId } = webhook;
    const latest = await replays.findLatest(accountId, eventName);
    if (latest && isRunningFor(latest, webhook)) return { outcome: 'running', replay: latest };

    const moment = now();
    const startedAt = latest?.state === 'cancelled' ? Math.max(moment, latest.nextSlotAt + withdrawalLength) : moment;
    const to = Math.min(end, moment);
    const cursor = keysUntil(to);
    const replay: Replay = {
      id: replayIdOf(makeId(22)),
      accountId,
      eventName,
      webhookId,
      from,
      to,
      wanted,
      state: 'running',
      startedAt,
      total: 0,
      countCursor: cursor,
      sent: 0,
      lastSlotAt: moment,
      sendCursor: cursor,
      inFlight: [],
      nextSlotAt: Math.max(moment, latest?.nextSlotAt ?? moment), // the deliveries of a cancelled replay keep their slots
      claim: 1,
      lookAt: startedAt > moment ? startedAt : moment + firstClaimLength,
    };
    if (!(await replays.start(replay, latest))) return undefined;
    if (startedAt === moment) await runFirstSlice(replay);
    const started = await replays.findLatest(accountId, eventName);
    return { outcome: 'started', replay: started?.id === replay.id ? started : replay };
  };

  /** A replay of an earlier registration does not block one of the current. */
  function isRunningFor(latest: Replay, { webhookId }: Webhook): boolean {
    return progressAt(latest, now()).state === 'running' && latest.webhookId === webhookId;
  }

  /** The sweeper goes on from wherever this ends. */
  async function runFirstSlice(replay: Replay): Promise<void> {
    let steps = 0;
    try {
      await run(replay, firstSlice, ({ sent }) => sent < firstSent && steps++ < firstSteps);
    } catch (error) {
      log.warn('replay.not_begun', { replayId: replay.id, ...describeError(error) });
    }
  }
}

/**
 * What a cancelled replay had sent ends as it was when its message comes, in its slot. Until then the next replay would not find it. It
 * begins this many milliseconds after the last slot.
 */
const withdrawalLength = 10_000;

/** The time that the process that starts a replay has it claimed, in milliseconds; then the sweeper goes on. */
const firstClaimLength = 20_000;

/** Deliveries that are due within this many milliseconds are sent at once; the sweeper sends the rest. */
const firstSlice = 5_000;

/** No page is begun after this many deliveries were sent, however slowly: a store that stalls must not be asked for more. */
const firstSent = firstSlice / replaySlotInterval;

/** The most steps (counting or sending a page) that a client waits for: together they cost what a few pages of the history do. */
const firstSteps = 10;
