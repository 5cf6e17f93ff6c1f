import type { Clock } from '../../platform/clock.ts';
import { isTest, type WaitingDelivery } from '../delivery.ts';
import type { Lane } from '../lane-routing.ts';
import { latestInSlot, storedFromReceive, timeAroundAttempt } from '../limits.ts';
import type { AttemptMessage } from '../queues.ts';
import { type StoreChange, storeUnlessStale } from '../store/store-unless-stale.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import { isTooOld, queuedInSlowLane, withSlot } from '../transitions.ts';
import type { ReserveSlot } from './slot-reservations.ts';
import { countsStill, isSlow, slotInterval } from './slowness.ts';
import type { StoredSlowness } from './slowness-store.ts';
import type { WaitInTable } from './wait-in-table.ts';

/**
 * The decision on a message that has come. `now`: the attempt is made. `hiddenFor`: the message is hidden for that many milliseconds.
 * `over`: the message is deleted. The delivery has changed, or the sweeper sends another one. `too_old`: the delivery is to end.
 */
type Turn = 'now' | 'over' | 'too_old' | { readonly hiddenFor: number };

type AttemptTurn = Exclude<Turn, 'over' | 'too_old'>;

/** Judges a delivery whose message has come. */
export type JudgeTurn = (
  delivery: WaitingDelivery,
  slowness: StoredSlowness,
  storeChange: StoreChange,
  message: ReceivedMessage,
) => Promise<Turn>;

interface ReceivedMessage extends Pick<AttemptMessage, 'slotAt' | 'slotSeries'> {
  /** The number of times that it was received by now. */
  readonly receiveCount: number;
}

/**
 * Returns the function that judges in a lane whether a delivery has its turn. Slots are reserved up to a minute ahead. Meanwhile a
 * receiver may change its ways, or the lane may lag: the pace is judged anew when the message comes. One whose slot counts no more
 * takes another, which is stored before the message is hidden until then: a process that dies in between loses nothing. What would
 * have to wait for long, or was moved often, waits in the table, in the place that it had there. Only the slow lane has slots; tests
 * and resends take none.
 *
 * A message that comes before the slot is a copy: the one that took the slot is hidden until then. So the copy is hidden until an
 * attempt in that slot is over, lest two processes make it side by side. If there is no other message, it takes another slot then.
 */
export function makeJudgeTurn(
  dependencies: {
    readonly lane: Lane;
    readonly reserveSlot: ReserveSlot;
    readonly waitInTable: WaitInTable;
    readonly slowRate: number;
    /** The timeout of an attempt, in milliseconds. */
    readonly attemptTimeoutMs: number;
    readonly now: Clock;
  } & DeliveryTelemetry,
): JudgeTurn {
  const { lane, reserveSlot, waitInTable, slowRate, attemptTimeoutMs, now, log } = dependencies;

  return async function judgeTurn(delivery, slowness, storeChange, { slotAt = 0, slotSeries = 0, receiveCount }) {
    if (lane !== 'slow' || isTest(delivery) || delivery.broughtForward || !isSlow(slowness)) return 'now';
    const { nextAttemptAt, slotSeries: storedSeries = 0 } = delivery.wait;
    const moment = Math.max(slotAt, nextAttemptAt);
    const series = Math.max(slotSeries, storedSeries);
    const hasMissedSlot = now() - moment > latestInSlot;
    if (!hasMissedSlot && countsStill(slowness, series, slotInterval(slowness, slowRate)))
      return unlessCopy(attemptAt(moment));

    if (isTooOld(delivery, now())) return 'too_old';
    const slot = receiveCount < storedFromReceive ? await reserveSlot(slowness) : undefined;
    if (!slot) {
      await waitInTable(delivery, slowness, storeChange);
      return 'over';
    }
    const turn = attemptAt(slot.at);
    if (turn === 'now') return turn;
    const moved = queuedInSlowLane(withSlot(delivery, slot, now()));
    if (!(await storeUnlessStale(delivery, moved, storeChange, dependencies))) return 'over';
    log.info('delivery.slot_moved', { ...describeDelivery(delivery), waitMs: turn.hiddenFor });
    return turn;
  };

  function attemptAt(moment: number): AttemptTurn {
    const hiddenFor = moment - now();
    return hiddenFor <= clockTolerance ? 'now' : { hiddenFor };
  }

  function unlessCopy(turn: AttemptTurn): Turn {
    return turn === 'now' ? turn : { hiddenFor: turn.hiddenFor + attemptTimeoutMs + timeAroundAttempt };
  }
}

/** A slot that is no further off is taken at once: SQS hides for whole seconds, and clocks differ. Milliseconds. */
const clockTolerance = 500;
