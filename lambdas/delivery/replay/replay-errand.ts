import type { Clock } from '../../platform/clock.ts';
import type { Errand } from '../sweeper/sweep.ts';
import type { RunReplay } from './replay-runner.ts';
import type { ReplayStore } from './replay-store.ts';

/** What driving replays stands on. */
export interface ReplayErrandDependencies {
  readonly replays: Pick<ReplayStore, 'read' | 'claim'>;
  readonly run: RunReplay;
  readonly now: Clock;
}

/** Makes the sweeper's part in replays: each minute it takes those under way in hand and sends a minute's worth. */
export function makeReplayErrand({ replays, run, now }: ReplayErrandDependencies): Errand {
  return async function replayErrand({ id }, hasTime) {
    const replay = await replays.read(id);
    if (replay?.state !== 'running' || replay.lookAt > now()) return; // the index is behind
    const claimed = await replays.claim(replay, now() + claimLength);
    if (claimed) await run(claimed, untilNextSweep, hasTime);
  };
}

/** For how long nobody else takes a replay in hand: less than a minute, so that the next sweep does. Milliseconds. */
const claimLength = 50_000;

/** The sweeper comes every minute and sends what is due until it comes again. Milliseconds. */
const untilNextSweep = 60_000;
