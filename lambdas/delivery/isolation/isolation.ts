import type { Dynamo } from '../../platform/aws/dynamo.ts';
import type { Time } from '../../platform/timer.ts';
import type { Lane } from '../lane-routing.ts';
import { attemptsPerWebhook } from '../limits.ts';
import type { AttemptQueue } from '../queues.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { makeAdmission } from './admission.ts';
import { makeConcurrencyLimit } from './concurrency-limit.ts';
import { makeRecentCounts } from './recent-counts.ts';
import { makeSendAgain } from './send-again.ts';
import { makeSlotReservations } from './slot-reservations.ts';
import { makeMoveToSlowLane } from './slow-lane.ts';
import { makeJudgeTurn } from './slow-lane-turn.ts';
import { makeSlownessStore } from './slowness-store.ts';
import { makeSlownessTracker } from './slowness-tracker.ts';
import { makeWaitInTable } from './wait-in-table.ts';

export type Isolation = ReturnType<typeof makeIsolation>;

/** Makes the bulkheads of one process, which remembers slow receivers as long as it lives. */
export function makeIsolation(
  parts: {
    readonly dynamo: Dynamo;
    /** The table `Deliveries`. */
    readonly table: string;
    readonly store: Pick<DeliveryStore, 'read' | 'update'>;
    readonly slowQueue: Pick<AttemptQueue, 'send'>;
    readonly slowRate: number;
    readonly attemptTimeoutMs: number;
    readonly lane: Lane;
  } & Pick<Time, 'now' | 'elapsed' | 'turn'> &
    DeliveryTelemetry,
) {
  const { dynamo, table, slowRate: rate, lane, now, elapsed } = parts;
  const slownessStore = makeSlownessStore({ dynamo, table, now, rate });
  const slots = {
    reserveSlot: makeSlotReservations(slownessStore, parts.turn),
    waitInTable: makeWaitInTable({ ...parts, slownessStore }),
  };
  const limit = makeConcurrencyLimit(attemptsPerWebhook, elapsed);
  return {
    admit: makeAdmission({ limit, lane }),
    hasRoomFor: limit.hasRoomFor,
    tracker: makeSlownessTracker({ ...parts, store: slownessStore, quickCounts: makeRecentCounts() }),
    sendAgain: makeSendAgain(parts),
    moveToSlowLane: makeMoveToSlowLane({ ...parts, ...slots }),
    judgeTurn: makeJudgeTurn({ ...parts, ...slots }),
  };
}
