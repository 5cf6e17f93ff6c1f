import {
  mayRecover,
  recovered,
  type Slots,
  type Slowness,
  slotInterval,
  takeSlots,
  unknownSlowness,
} from '../../lambdas/delivery/isolation/slowness.ts';
import { backlogRenewal } from '../../lambdas/delivery/limits.ts';
import { planOf } from '../../lambdas/delivery/sweeper/slow-backlog.ts';
import { latency } from './costs.ts';
import { Fifo } from './fifo.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The record of one webhook in the tables. */
export interface WebhookRecord {
  slowness: Slowness;
  /** Counts changes of the slowness: a change is written where it is still the one that was read. */
  version: number;
  slots: Slots;
  /** Set while arrivals must wait in the table, too. */
  isBacklogged: boolean;
  /** The moment when the last one was about to wait. */
  waitingAt: number;
  failingSince: number | undefined;
  /** Writes of one item come one after the other: from now on the next one begins then. */
  itemFreeAt: number;
}

interface WebhookTables<Message> extends WebhookRecord {
  /** Messages whose deliveries wait for a slot. */
  readonly waiting: Fifo<Message>;
}

/** The tables, and the sweeper that looks into them each minute. */
export interface SimulatedTables<Message> {
  recordOf(webhook: string): WebhookRecord;
  /** Writes an item that all attempts at a webhook share. */
  writeShared(webhook: string, then: () => void): void;
  /** Changes the slowness: reads it, writes it, and begins anew where somebody else wrote it meanwhile. */
  changeSlowness(webhook: string, by: (slowness: Slowness) => Slowness | undefined, then: () => void): void;
  /** Ends the slowness where a quick success may. */
  recover(webhook: string): void;
  /** Reserves slots. Passes on the first, and the time between two; `undefined`: they are too far off. */
  reserve(webhook: string, slots: number, then: (reserved: ReservedSlots | undefined) => void): void;
  /** Lets a message wait in the table until the sweeper finds a slot for it; its delivery is stored meanwhile. */
  beginWaiting(webhook: string, message: Message, then: () => void): void;
}

/** Slots that a process has. */
interface ReservedSlots {
  readonly at: number;
  readonly interval: number;
  /** The number of their series. */
  readonly series: number;
}

/**
 * Makes empty tables. `send` is how the sweeper sends what waited: after how many milliseconds, and in the slow lane with a slot of which
 * series.
 */
export function makeSimulatedTables<Message>(
  time: VirtualTime,
  slowRate: number,
  send: (message: Message, delay: number, slotSeries: number | undefined) => void,
): SimulatedTables<Message> {
  const records = new Map<string, WebhookTables<Message>>();
  return { recordOf, writeShared, changeSlowness, recover, reserve, beginWaiting };

  function recordOf(webhook: string): WebhookTables<Message> {
    const found = records.get(webhook) ?? newRecord<Message>();
    records.set(webhook, found);
    return found;
  }

  function writeShared(webhook: string, then: () => void): void {
    const record = recordOf(webhook);
    record.itemFreeAt = Math.max(record.itemFreeAt, time.now()) + latency.write;
    time.at(record.itemFreeAt, then);
  }

  function changeSlowness(
    webhook: string,
    by: (slowness: Slowness) => Slowness | undefined,
    then: () => void,
    tries = 1,
  ): void {
    time.at(time.now() + latency.read, () => {
      const record = recordOf(webhook);
      const { version } = record;
      const changed = by(record.slowness);
      if (!changed) {
        then();
        return;
      }
      writeShared(webhook, () => {
        if (record.version === version) {
          record.slowness = changed;
          record.version += 1;
        } else if (tries < maxTries) {
          changeSlowness(webhook, by, then, tries + 1);
          return;
        }
        then();
      });
    });
  }

  function recover(webhook: string): void {
    const { slowness } = recordOf(webhook);
    if (!mayRecover(slowness, time.now())) return;
    changeSlowness(webhook, read => (mayRecover(read, time.now()) ? recovered(read, time.now()) : undefined), nothing);
  }

  function reserve(webhook: string, slots: number, then: (reserved: ReservedSlots | undefined) => void): void {
    const record = recordOf(webhook);
    const interval = slotInterval(record.slowness, slowRate);
    if (!takeSlots(record.slots, slots, interval, time.now())) {
      then(undefined);
      return;
    }
    writeShared(webhook, () => {
      const taken = takeSlots(record.slots, slots, interval, time.now());
      if (taken) record.slots = taken.after;
      then(taken && { at: taken.firstAt, interval, series: taken.after.slotSeries });
    });
  }

  function beginWaiting(webhook: string, message: Message, then: () => void): void {
    const record = recordOf(webhook);
    const store = () => {
      record.waiting.push(message);
      time.at(time.now() + latency.write, then);
    };
    if (record.isBacklogged && time.now() - record.waitingAt < backlogRenewal) {
      store();
      return;
    }
    writeShared(webhook, () => {
      if (record.waitingAt === Number.NEGATIVE_INFINITY) time.at(time.now() + minute, () => sweep(webhook));
      record.isBacklogged = true;
      record.waitingAt = time.now();
      store();
    });
  }

  function sweep(webhook: string): void {
    const record = recordOf(webhook);
    const plan = planOf({ ...record.slowness, ...record.slots }, slowRate, time.now());
    const given = Math.min(plan.most, record.waiting.length);
    const slotSeries = plan.to === 'slow' ? plan.slots.slotSeries : undefined;
    for (let slot = 0; slot < given; slot++) {
      const at = plan.beginAt + slot * plan.interval;
      send(record.waiting.shift(), at - time.now(), slotSeries);
    }
    if (plan.to === 'slow') record.slots = { ...plan.slots, nextSlotAt: plan.beginAt + given * plan.interval };
    if (record.waiting.length === 0) record.isBacklogged = false;
    time.at(time.now() + minute, () => sweep(webhook));
  }
}

function newRecord<Message>(): WebhookTables<Message> {
  return {
    slowness: unknownSlowness,
    version: 0,
    slots: { nextSlotAt: 0, slotSeries: 0 },
    isBacklogged: false,
    waitingAt: Number.NEGATIVE_INFINITY,
    waiting: new Fifo(),
    failingSince: undefined,
    itemFreeAt: 0,
  };
}

/** As in `slowness-store.ts`. */
const maxTries = 6;

const minute = 60_000;

function nothing(): void {}
