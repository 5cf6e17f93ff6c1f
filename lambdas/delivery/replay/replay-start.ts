import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { keysUntil } from '../delivery-item.ts';
import { progressAt, type Replay, replayIdOf } from './replay.ts';
import type { RunReplay } from './replay-runner.ts';
import type { ReplayStore } from './replay-store.ts';

/** The deliveries of a replay. */
export type ReplayRange = Pick<Replay, 'from' | 'to' | 'wanted'>;

/** Begins a replay for a webhook, and sends what can leave at once. Nothing: one is under way. */
export type StartReplay = (webhook: Webhook, range: ReplayRange) => Promise<Replay | undefined>;

/** What beginning replays needs. */
export interface ReplayStartDependencies {
  readonly replays: Pick<ReplayStore, 'findLatest' | 'start'>;
  readonly run: RunReplay;
  readonly makeId: MakeId;
  readonly now: Clock;
  readonly log: Log;
}

/** Makes the beginning of replays, for the account's own and for the operator's. */
export function makeStartReplay({ replays, run, makeId, now, log }: ReplayStartDependencies): StartReplay {
  return async function startReplay(webhook, { from, to: end, wanted }) {
    const { accountId, eventName, webhookId } = webhook;
    const latest = await replays.findLatest(accountId, eventName);
    if (latest && isUnderWay(latest, webhook)) return undefined;

    const moment = now();
    const to = Math.min(end, moment);
    const place = keysUntil(to);
    const replay: Replay = {
      id: replayIdOf(makeId(22)),
      accountId,
      eventName,
      webhookId,
      from,
      to,
      wanted,
      state: 'running',
      startedAt: moment,
      total: 0,
      countedTo: place,
      sent: 0,
      lastTurnAt: moment,
      sentTo: place,
      inHand: [],
      paceAt: Math.max(moment, latest?.paceAt ?? moment), // what a cancelled one has sent keeps its turns
      claim: 1,
      lookAt: moment + firstClaim,
    };
    if (!(await replays.start(replay, latest))) return undefined;
    await runFirstSlice(replay);
    const begun = await replays.findLatest(accountId, eventName);
    return begun?.id === replay.id ? begun : replay;
  };

  /** A replay of a registration that is gone does not hold up the next one's. */
  function isUnderWay(latest: Replay, { webhookId }: Webhook): boolean {
    return progressAt(latest, now()).state === 'running' && latest.webhookId === webhookId;
  }

  /** Begins what can be begun at once; the sweeper goes on from wherever this ends. */
  async function runFirstSlice(replay: Replay): Promise<void> {
    let steps = 0;
    try {
      await run(replay, firstSlice, () => steps++ < firstSteps);
    } catch (error) {
      log.warn('replay.not_begun', { replayId: replay.id, ...describeError(error) });
    }
  }
}

/** The process that begins a replay has it claimed for this long, in milliseconds; then the sweeper goes on. */
const firstClaim = 20_000;

/** What is due within this many milliseconds leaves at once; the rest is the sweeper's. */
const firstSlice = 5_000;

/** The steps (counting or sending a page) that whoever begins it waits for. */
const firstSteps = 20;
