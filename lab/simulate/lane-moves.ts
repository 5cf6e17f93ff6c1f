import type { Slot } from '../../lambdas/delivery/transitions.ts';
import type { Random } from '../../tools/support/random.ts';
import { latency, processorTime } from './costs.ts';
import type { FunctionProcess } from './function-process.ts';
import type { InvocationEvents } from './lane-consumer.ts';
import type { ServicePlan, SimulatedMessage } from './service-plan.ts';
import type { SimulatedTables, WebhookRecord } from './simulated-tables.ts';
import type { SimulatedTracker } from './simulated-tracker.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A process of a lane's function, and what it keeps. */
export interface WorkerProcess extends FunctionProcess {
  readonly tracker: SimulatedTracker;
  /** Slots in the slow lane that this process has reserved, by webhook. */
  readonly slots: Map<string, SlotBlock>;
}

/** Slots of one webhook. */
interface SlotBlock {
  at: number;
  interval: number;
  series: number;
  left: number;
  isAsking: boolean;
  /** The functions called when there are slots again, or none. */
  waiting: (() => void)[];
}

/** The ways in which messages leave a lane without an attempt, call by call. */
export interface LaneMoves {
  /** Hides messages, up to ten in one call. */
  hide(shed: readonly InvocationEvents[], process: WorkerProcess): void;
  toRetryLane(message: SimulatedMessage, process: WorkerProcess, wait: number, then: () => void): void;
  toSlowLane(message: SimulatedMessage, process: WorkerProcess, read: WebhookRecord, then: () => void): void;
  /** A call to a table or a queue that takes `takes` milliseconds, for `messages` messages. */
  call(process: WorkerProcess, takes: number, messages: number, then: () => void): void;
}

/** The dependencies of moves. */
export interface LaneMovesDependencies {
  readonly time: VirtualTime;
  readonly tables: SimulatedTables<SimulatedMessage>;
  readonly moves: ServicePlan['moves'];
  readonly random: Random;
  readonly onStored: (message: SimulatedMessage) => void;
  readonly attemptInSlowLane: (message: SimulatedMessage, slotSeries: number) => void;
  readonly sendToRetryLane: (message: SimulatedMessage, delay: number) => void;
}

/** Makes the moves of a lane: what `process-delivery.ts` and `slow-lane.ts` do. */
export function makeLaneMoves(dependencies: LaneMovesDependencies): LaneMoves {
  const { time, tables, moves, random, onStored, attemptInSlowLane, sendToRetryLane } = dependencies;
  return { hide, toRetryLane, toSlowLane, call };

  /** For one, two or three seconds: a visibility is in whole seconds. */
  function hide(shed: readonly InvocationEvents[], process: WorkerProcess): void {
    call(process, latency.send, shed.length, () => {
      for (const { hidden } of shed) hidden((1 + Math.floor(3 * random())) * 1_000);
    });
  }

  function toRetryLane(message: SimulatedMessage, process: WorkerProcess, wait: number, then: () => void): void {
    store(message, process, message.isStored, () => {
      call(process, latency.send, 1, () => {
        then();
        sendToRetryLane(message, wait);
      });
    });
  }

  function toSlowLane(message: SimulatedMessage, process: WorkerProcess, read: WebhookRecord, then: () => void): void {
    if (read.isBacklogged) waitInTable(message, process, then);
    else {
      takeSlot(message.tenant.webhook, process, slot => {
        if (!slot) waitInTable(message, process, then);
        else sendToSlowLane(message, process, slot, then);
      });
    }
  }

  function waitInTable(message: SimulatedMessage, process: WorkerProcess, then: () => void): void {
    process.work(processorTime.call, () => {
      tables.beginWaiting(message.tenant.webhook, message, () => {
        noteStored(message);
        then();
      });
    });
  }

  /** The sweeper's mark is part of the write; it used to be one of its own, after the message. */
  function sendToSlowLane(message: SimulatedMessage, process: WorkerProcess, slot: Slot, then: () => void): void {
    const isMarkApart = moves === 'former';
    store(message, process, isMarkApart && message.isStored, () => {
      call(process, latency.send, 1, () => {
        time.at(Math.max(slot.at, time.now()), () => attemptInSlowLane(message, slot.series));
        if (isMarkApart) call(process, latency.write, 1, then);
        else then();
      });
    });
  }

  /** Passes on the next slot that the process has, or reserves more: ten at once, for all that ask meanwhile. */
  function takeSlot(webhook: string, process: WorkerProcess, then: (slot: Slot | undefined) => void): void {
    const block = process.slots.get(webhook) ?? {
      at: 0,
      interval: 0,
      series: 0,
      left: 0,
      isAsking: false,
      waiting: [],
    };
    process.slots.set(webhook, block);
    if (block.left > 0) {
      const { at, series } = block;
      block.left -= 1;
      block.at += block.interval;
      then({ at, series });
    } else if (block.isAsking && moves !== 'former') block.waiting.push(() => takeSlot(webhook, process, then));
    else reserve(webhook, process, block, then);
  }

  function reserve(
    webhook: string,
    process: WorkerProcess,
    block: SlotBlock,
    then: (slot: Slot | undefined) => void,
  ): void {
    const slots = moves === 'former' ? 1 : slotsInBlock;
    block.isAsking = true;
    process.work(processorTime.call, () => {
      tables.reserve(webhook, slots, reserved => {
        block.isAsking = false;
        if (reserved) {
          Object.assign(block, {
            at: reserved.at + reserved.interval,
            interval: reserved.interval,
            series: reserved.series,
            left: slots - 1,
          });
        }
        then(reserved);
        for (const ask of block.waiting.splice(0)) ask();
      });
    });
  }

  function store(message: SimulatedMessage, process: WorkerProcess, isDone: boolean, then: () => void): void {
    const goOn = () => {
      noteStored(message);
      then();
    };
    if (isDone) goOn();
    else call(process, latency.write, 1, goOn);
  }

  function noteStored(message: SimulatedMessage): void {
    onStored(message);
    message.isStored = true;
  }

  function call(process: WorkerProcess, takes: number, messages: number, then: () => void): void {
    process.work(processorTime.call + messages * processorTime.entry, () => time.at(time.now() + takes, then));
  }
}

const slotsInBlock = 10;
