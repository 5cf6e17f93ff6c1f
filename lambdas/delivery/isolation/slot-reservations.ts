import type { Turn } from '../../platform/timer.ts';
import type { Slot } from '../transitions.ts';
import { slownessId } from './slow-since.ts';
import type { SlotBlock, SlownessStore, StoredSlowness } from './slowness-store.ts';

/** Reserves the next slot of a slow webhook. `undefined`: it is too far off. */
export type ReserveSlot = (slowness: StoredSlowness) => Promise<Slot | undefined>;

/**
 * Makes the reservations of a process. All moves of a webhook write to one item, one after another. So what is asked for while
 * a reservation is under way is reserved together, up to ten slots by one write. No slot is reserved that nobody asked for.
 */
export function makeSlotReservations(slownessStore: Pick<SlownessStore, 'reserve'>, turn: Turn): ReserveSlot {
  /** The requests of webhooks whose reservation is under way or about to begin. */
  const waiting = new Map<string, Request[]>();

  return function reserveSlot(slowness) {
    return new Promise((resolve, reject) => {
      const id = slownessId(slowness);
      const requests = waiting.get(id);
      const request = { slowness, resolve, reject };
      if (requests) requests.push(request);
      else {
        const own = [request];
        waiting.set(id, own);
        void serve(id, own);
      }
    });
  };

  async function serve(id: string, requests: Request[]): Promise<void> {
    await turn(); // messages that were read together ask together
    while (requests.length > 0) await reserve(requests.splice(0, mostSlots));
    waiting.delete(id);
  }

  async function reserve(requests: readonly Request[]): Promise<void> {
    const slowness = requests.at(-1)?.slowness; // read last
    if (!slowness) return;
    try {
      const block = await slownessStore.reserve(slowness, requests.length);
      for (const [index, { resolve }] of requests.entries()) resolve(block && slotOf(block, index));
    } catch (error) {
      for (const { reject } of requests) reject(error);
    }
  }
}

interface Request {
  readonly slowness: StoredSlowness;
  readonly resolve: (slot: Slot | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Slots of one write. A longer block would keep the slots of other processes waiting. */
const mostSlots = 10;

function slotOf({ firstAt, interval, series }: SlotBlock, index: number): Slot {
  return { at: firstAt + index * interval, series };
}
