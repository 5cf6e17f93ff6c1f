import {
  firstReceivePause,
  longestReceivePause,
  maxPauseLateness,
  mostStopsEarlier,
  pauseWithoutRoom,
  receivePauseOfOne,
} from '../../lambdas/delivery/limits.ts';
import type { Random } from '../../tools/support/random.ts';
import { coldStart, latency, processorTime } from './costs.ts';
import type { FunctionProcess } from './function-process.ts';
import type { QueuedMessage, SimulatedQueue } from './simulated-queue.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * The batches that an event source has the function work on at once. In standard mode five at first, and 300 more a minute while
 * messages wait. It is not modelled that the source goes back to five when little comes.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
 */
export interface Places {
  readonly atFirst: number;
  readonly most: number;
  /** More a second while messages wait. */
  readonly growth: number;
}

/** The events of the messages that a process has. */
export interface InvocationEvents {
  /** An attempt begins: from now on the message only waits for its receiver. */
  attemptBegins(): void;
  attemptEnds(): void;
  /** The message is done with, and deleted. */
  done(): void;
  /** The message is hidden: it will come again. */
  hidden(milliseconds: number): void;
}

/** The settings of a consumer. */
export interface ConsumerSettings {
  readonly attemptsPerProcess: number;
  /** A process receives no more while it has this many messages that do not wait for a receiver. */
  readonly messagesInOwnWork: number;
  /** The pause after a receive that brought messages, in milliseconds. */
  readonly pauseWhileMessages: number;
  /**
   * `former`: a process waited for `firstReceivePause` before it received more, also where its batch was full; and the pause
   * doubled where it had no room, as where there were no messages.
   */
  readonly receiving: 'present' | 'former';
}

/**
 * Simulates the event source of a lane and the processes of its function, as `batch-consumer.ts` works. Returns a function to call
 * after messages were sent, and the number of processes.
 */
export function simulateConsumer<Message extends QueuedMessage, Process extends FunctionProcess>({
  time,
  queue,
  places,
  settings,
  until,
  random,
  makeProcess,
  handleBatch,
}: {
  readonly time: VirtualTime;
  readonly queue: SimulatedQueue<Message>;
  readonly places: Places;
  readonly settings: ConsumerSettings;
  /** The end of the simulation. */
  readonly until: number;
  readonly random: Random;
  readonly makeProcess: () => Process;
  /** Begins to process messages that a process has received. */
  readonly handleBatch: (
    messages: readonly Message[],
    process: Process,
    eventsOf: (message: Message) => InvocationEvents,
  ) => void;
}): { readonly dispatch: () => void; readonly processes: () => number } {
  const idle: Process[] = [];
  const warm = new Set<Process>();
  let count = 0;
  while (count < places.atFirst) warm.add(addProcess());
  grow();
  return { dispatch, processes: () => count };

  function addProcess(): Process {
    const process = makeProcess();
    idle.push(process);
    count += 1;
    return process;
  }

  function grow(): void {
    if (queue.length() > 0 && idle.length === 0 && count < places.most) {
      addProcess();
      dispatch();
    }
    if (time.now() < until) time.at(time.now() + 1_000 / places.growth, grow);
  }

  function dispatch(): void {
    while (idle.length > 0 && queue.length() > 0) {
      const batch = queue.take(batchSize);
      const process = idle.pop() as Process;
      const start = warm.has(process) ? 0 : coldStart;
      warm.add(process);
      time.at(time.now() + latency.invoke + start, () => invoke(process, batch));
    }
  }

  function invoke(process: Process, batch: readonly Message[]): void {
    const receivesUntil = time.now() + receivesFor - random() * mostStopsEarlier;
    let inFlight = 0;
    let attempts = 0;
    let isOver = false;
    /** The event source deletes its batch when the function has answered. */
    const given = new Set(batch);
    const processed: Message[] = [];

    begin(batch);
    const isFull = settings.receiving === 'present' && batch.length === batchSize;
    if (batch.length > 0)
      receiveAfter(isFull ? settings.pauseWhileMessages : batch.length === 1 ? receivePauseOfOne : firstReceivePause);
    else end();

    function begin(messages: readonly Message[]): void {
      inFlight += messages.length;
      process.work(messages.length * processorTime.message, () => handleBatch(messages, process, eventsOf));
    }

    function eventsOf(message: Message): InvocationEvents {
      return {
        attemptBegins: () => {
          attempts += 1;
        },
        attemptEnds: () => {
          attempts -= 1;
        },
        done() {
          process.spend(processorTime.entry);
          if (given.has(message)) processed.push(message);
          else queue.delete(message);
          leave();
        },
        hidden(milliseconds) {
          given.delete(message);
          queue.hide(message, milliseconds);
          leave();
        },
      };
    }

    function leave(): void {
      inFlight -= 1;
      if (inFlight === 0 && !isOver) end();
    }

    function end(): void {
      isOver = true;
      for (const message of processed) queue.delete(message);
      idle.push(process);
      dispatch();
    }

    function receiveAfter(pause: number): void {
      time.at(time.now() + pause, () => {
        if (isOver) return;
        const longer = Math.min(Math.max(pause * 2, firstReceivePause), longestReceivePause);
        if (time.now() >= receivesUntil) return;
        const { attemptsPerProcess, messagesInOwnWork, receiving } = settings;
        const hasRoom =
          process.lateness() <= maxPauseLateness &&
          inFlight - attempts < messagesInOwnWork &&
          inFlight + batchSize <= attemptsPerProcess;
        if (!hasRoom) return receiveAfter(receiving === 'present' ? pauseWithoutRoom : longer);
        time.at(time.now() + latency.receive, () => {
          const messages = isOver ? [] : queue.take(batchSize);
          process.spend(processorTime.call);
          if (messages.length > 0) begin(messages);
          receiveAfter(messages.length > 0 ? settings.pauseWhileMessages : longer);
        });
      });
    }
  }
}

const batchSize = 10;

/** The timeout of the function is an attempt's and 30 s; an attempt that begins needs its own and 10 s. */
export const receivesFor = 20_000;
