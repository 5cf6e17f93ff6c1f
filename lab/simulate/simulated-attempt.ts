import { giveUpAfter, giveUpEvery, slowAfter } from '../../lambdas/delivery/limits.ts';
import type { Random } from '../../tools/support/random.ts';
import { latency, processorTime } from './costs.ts';
import type { InvocationEvents } from './lane-consumer.ts';
import type { LaneMoves, WorkerProcess } from './lane-moves.ts';
import type { ServicePlan, SimulatedMessage } from './service-plan.ts';
import type { SimulatedTables, WebhookRecord } from './simulated-tables.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The dependencies of attempts. */
export interface SimulatedAttemptDependencies {
  readonly time: VirtualTime;
  readonly tables: SimulatedTables<SimulatedMessage>;
  readonly moves: LaneMoves;
  readonly giveUp: ServicePlan['giveUp'];
  readonly random: Random;
  readonly onAttempt: (message: SimulatedMessage) => void;
  readonly retryLater: (message: SimulatedMessage) => void;
}

/** Makes one attempt in a quick lane. `then`: called when its outcome is stored, and what follows from it sent. */
export type SimulateAttempt = (
  message: SimulatedMessage,
  process: WorkerProcess,
  read: WebhookRecord,
  events: InvocationEvents,
  then: () => void,
) => void;

/** Returns what makes attempts: what `attempt-watch.ts` and `process-delivery.ts` do. */
export function makeSimulatedAttempt(dependencies: SimulatedAttemptDependencies): SimulateAttempt {
  const { time, tables, moves, giveUp, random, onAttempt, retryLater } = dependencies;

  return function simulateAttempt(message, process, read, events, then) {
    process.work(processorTime.attempt, () => begin(message, process, read, events, then));
  };

  function begin(...[message, process, read, events, then]: Parameters<SimulateAttempt>): void {
    const { webhook } = message.tenant;
    const start = time.now();
    const { resolves, answers, isSuccess } = message.tenant.behave(random, message, start);
    const took = Math.min(answers, deadline - resolves);
    const nameIsSlow = resolves > slowAfter;
    const overAt = start + resolves + took;
    const slowAt = start + (nameIsSlow ? giveUpAfter : resolves + slowAfter);
    let isOver = false;
    events.attemptBegins();
    onAttempt(message);
    time.at(overAt, endInTime);
    if (overAt > slowAt) time.at(slowAt, () => process.work(processorTime.timer, onSlow));

    function endInTime(): void {
      if (isOver) return;
      end();
      process.work(processorTime.timer, () => {
        if (took <= slowAfter) process.quickCounts.add(webhook, time.now());
        if (took <= slowAfter && isSuccess) tables.recover(webhook);
        process.tracker.afterStored(webhook, () => recordHealth(webhook, read, process, isSuccess, storeOutcome));
      });
    }

    function storeOutcome(): void {
      moves.call(process, latency.write, 1, () => {
        message.isStored = true;
        if (isSuccess) then();
        else {
          moves.call(process, latency.send, 1, () => {
            retryLater(message);
            then();
          });
        }
      });
    }

    function onSlow(): void {
      if (isOver) return;
      if (nameIsSlow) process.tracker.recordSlowName(webhook);
      else process.tracker.recordSlow(webhook);
      giveUpOrAskAgain();
    }

    function giveUpOrAskAgain(): void {
      if (isOver) return;
      if (giveUp === 'always') abort();
      else {
        process.askForMessages(doWait => {
          if (isOver) return;
          if (doWait) abort();
          else time.at(time.now() + giveUpEvery, giveUpOrAskAgain);
        });
      }
    }

    function abort(): void {
      end();
      process.tracker.afterStored(webhook, () => moves.toSlowLane(message, process, read, then));
    }

    function end(): void {
      isOver = true;
      events.attemptEnds();
    }
  }

  /** The webhook's item is written where it begins to fail, or no longer does. */
  function recordHealth(
    webhook: string,
    read: WebhookRecord,
    process: WorkerProcess,
    isSuccess: boolean,
    then: () => void,
  ): void {
    if (isSuccess === (read.failingSince === undefined)) then();
    else {
      moves.call(process, latency.write, 1, () => {
        const record = tables.recordOf(webhook);
        record.failingSince = isSuccess ? undefined : (record.failingSince ?? time.now());
        then();
      });
    }
  }
}

const deadline = 15_000;
