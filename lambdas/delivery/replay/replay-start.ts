import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { type Replay, type ReplayRange, replayIdOf } from './replay.ts';
import type { RunReplay } from './replay-runner.ts';
import type { ReplayStore } from './replay-store.ts';

/**
 * Starts a replay for a webhook and sends its first deliveries, or returns the replay that is already running. Returns `undefined` without
 * starting a replay if another process started one first. The caller may then retry.
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
  return async function startReplay({ accountId, eventName, webhookId }, { from, to, sourceState }) {
    const latest = await replays.findLatest(accountId, eventName);
    // A replay of an earlier registration does not block a replay of the current registration.
    if (latest?.state === 'running' && latest.webhookId === webhookId) return { outcome: 'running', replay: latest };
    const startedAt = now();
    const replay: Replay = {
      ...{ id: replayIdOf(makeId(22)), accountId, eventName, webhookId },
      ...{ from, to: Math.min(to, startedAt), sourceState },
      ...{ state: 'running', startedAt, sent: 0, pass: 1 },
    };
    if (!(await replays.start(replay, latest))) return undefined;
    return { outcome: 'started', replay: await runFirstPage(replay) };
  };

  /** Sends the first page. The sweeper sends the rest. */
  async function runFirstPage(replay: Replay): Promise<Replay> {
    let pages = 0;
    try {
      return (await run(replay, firstPage, () => pages++ === 0)) ?? replay;
    } catch (error) {
      log.warn('replay.not_started', { replayId: replay.id, ...describeError(error) });
      return replay;
    }
  }
}

/** The maximum number of deliveries that are sent before the API responds. */
const firstPage = 50;
