import { isSlow } from '../../lambdas/delivery/isolation/slowness.ts';
import { laneFor } from '../../lambdas/delivery/lane-routing.ts';
import { webhookLimitWait } from '../../lambdas/delivery/limits.ts';
import { latency, processorTime } from './costs.ts';
import type { InvocationEvents } from './lane-consumer.ts';
import { type LaneMovesDependencies, makeLaneMoves, type WorkerProcess } from './lane-moves.ts';
import type { ServicePlan, SimulatedMessage } from './service-plan.ts';
import { makeSimulatedAttempt, type SimulatedAttemptDependencies } from './simulated-attempt.ts';

/** Processes messages that a process has received. */
export type ProcessMessages = (
  messages: readonly SimulatedMessage[],
  process: WorkerProcess,
  eventsOf: (message: SimulatedMessage) => InvocationEvents,
) => void;

/** Returns what processes the messages of a lane: the way through `first-attempt.ts`, `retry.ts` and `process-delivery.ts`. */
export function makeProcessMessages({
  lane,
  plan,
  ...dependencies
}: {
  readonly lane: 'first' | 'retry';
  readonly plan: Pick<ServicePlan, 'moves' | 'giveUp' | 'receivesBeforeMove'>;
} & Omit<LaneMovesDependencies, 'moves'> &
  Omit<SimulatedAttemptDependencies, 'moves' | 'giveUp'>): ProcessMessages {
  const { time, tables, random } = dependencies;
  const moves = makeLaneMoves({ ...dependencies, moves: plan.moves });
  const attempt = makeSimulatedAttempt({ ...dependencies, moves, giveUp: plan.giveUp });
  const isAskedAtReceipt = plan.moves === 'present';

  return function processMessages(messages, process, eventsOf) {
    const received = messages.map((message): Received => {
      const leave = isAskedAtReceipt ? process.webhookLimit.enter(message.tenant.webhook) : undefined;
      return { message, events: eventsOf(message), leave };
    });
    const isShed = ({ message, leave }: Received) =>
      isAskedAtReceipt && !leave && message.receives < plan.receivesBeforeMove;
    hide(received.filter(isShed), process);
    const rest = received.filter(each => !isShed(each));
    if (rest.length === 0) return;
    process.work(processorTime.call + rest.length * processorTime.read, () => {
      time.at(time.now() + latency.read, () => decide(rest, process));
    });
  };

  /** Decides on messages: those read at once are decided at once. */
  function decide(received: readonly Received[], process: WorkerProcess): void {
    const shed = received.filter(each => !isTakenUp(each, process));
    hide(shed, process);
  }

  /** Attempts or moves a message. Returns whether it did: otherwise it is to be hidden. */
  function isTakenUp({ message, events, leave: entered }: Received, process: WorkerProcess): boolean {
    const { webhook } = message.tenant;
    const read = { ...tables.recordOf(webhook) };
    const other = laneFor(lane, { isSlow: isSlow(read.slowness), failingSince: read.failingSince }, time.now());
    const leave = entered ?? (other || isAskedAtReceipt ? undefined : process.webhookLimit.enter(webhook));
    const done = () => {
      leave?.();
      events.done();
    };
    if (other === 'slow') moves.toSlowLane(message, process, read, done);
    else if (other === 'retry') moves.toRetryLane(message, process, 0, done);
    else if (leave) attempt(message, process, read, events, done);
    else if (plan.moves === 'hiddenAfterReading' && message.receives < plan.receivesBeforeMove) return false;
    else moves.toRetryLane(message, process, webhookLimitWait(random), done);
    return true;
  }

  function hide(shed: readonly Received[], process: WorkerProcess): void {
    if (shed.length === 0) return;
    moves.hide(
      shed.map(({ events }) => events),
      process,
    );
  }
}

interface Received {
  readonly message: SimulatedMessage;
  readonly events: InvocationEvents;
  /** Frees its webhook's place, where it has one. */
  readonly leave: (() => void) | undefined;
}
