import { AsyncLocalStorage } from 'node:async_hooks';
import { PutCommand, type QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Dynamo, Item } from '../../../../lambdas/platform/aws/dynamo.ts';
import type { Database } from '../../../support/database/database.ts';

/** A delivery that a replay sent again, and its slot. */
export interface Restart {
  readonly replayId: string;
  readonly id: string;
  readonly nextAttemptAt: number;
}

/** A replay as it began. */
export interface Begun {
  readonly replayId: string;
  readonly webhookId: string;
  readonly wanted: string;
  readonly startedAt: number;
}

/** The place where a worker stands still: at a write to the store, before or after that has its effect. Reads change nothing. */
export interface Stall {
  /** Asked once for every write of the worker, in order. */
  readonly isHere: (isRestart: boolean) => boolean;
  readonly hasEffect: boolean;
}

/** Stands still at the write after this many. */
export const afterWrites = (writes: number, hasEffect: boolean): Stall => {
  let left = writes;
  return { isHere: () => left-- === 0, hasEffect };
};

/** Stands still just before it stores that it sends the n-th delivery again: 1 for the first. */
export const beforeRestart = (number: number): Stall => {
  let left = number;
  return { isHere: isRestart => isRestart && --left === 0, hasEffect: false };
};

/** Stands still at the write after it has stored that it sends this many deliveries again: they are not saved as sent. */
export const afterRestarts = (number: number): Stall => {
  let left = number;
  return { isHere: isRestart => (isRestart ? left-- === 0 : left === 0), hasEffect: false };
};

/** A process that works on replays. */
interface Worker {
  readonly stall: Stall | undefined;
  readonly reachStall: () => void;
  readonly goneOn: Promise<void>;
  isStill: boolean;
}

/** Lets a worker that stands still go on, to its end. */
export type GoOn = () => Promise<void>;

type Command = PutCommand | UpdateCommand | QueryCommand;

/** Stands between a simulation's processes and their store: makes workers stand still, and sees what replays do. */
export const watchWorkers = (real: Database) => {
  const workers = new AsyncLocalStorage<Worker>();
  const restarts: Restart[] = [];
  const begun: Begun[] = [];
  const still = new Set<GoOn>();

  const note = (item: Item) => {
    if ('startedAt' in item) begun.push(item as unknown as Begun);
    // A delivery that is handed over to the slow lane was sent again before.
    else if (item.state === 'pending' && item.replayId && item.slowLane === undefined)
      restarts.push(item as unknown as Restart);
  };

  /** Waits for as long as the worker stands still, which is from one of its calls on. */
  const pass = async (worker: Worker, isStall: boolean) => {
    if (isStall) {
      worker.isStill = true;
      worker.reachStall();
    }
    if (worker.isStill) await worker.goneOn;
  };

  const sendFor = async (worker: Worker, command: Command) => {
    const isWrite = command instanceof PutCommand || command instanceof UpdateCommand;
    const item = command instanceof PutCommand ? (command.input.Item ?? {}) : {};
    const isStall = (isWrite && worker.stall?.isHere(item.state === 'pending')) ?? false;
    await pass(worker, isStall && !worker.stall?.hasEffect);
    const answer = await real.dynamo(command as PutCommand);
    note(item);
    await pass(worker, isStall && worker.stall?.hasEffect === true);
    return answer;
  };

  const send = (command: Command) => {
    const worker = workers.getStore();
    return worker ? sendFor(worker, command) : real.dynamo(command as PutCommand);
  };

  return {
    /** The store, for `simulate`. */
    database: { ...real, dynamo: send as unknown as Dynamo } satisfies Database,
    /** Every replay that a worker began, in order. */
    begun,
    /** Every delivery that a worker sent again, in order. */
    restarts,
    /** The workers that stand still. */
    still: still as ReadonlySet<GoOn>,
    /** Lets a process work on replays until its end, or until it stands still. */
    work: async (run: () => Promise<unknown>, stall?: Stall): Promise<GoOn> => {
      const { promise: isStill, resolve } = Promise.withResolvers<void>();
      const { promise: goneOn, resolve: release } = Promise.withResolvers<void>();
      const reachStall = () => {
        still.add(goOn);
        resolve();
      };
      const worker: Worker = { stall, reachStall, goneOn, isStill: false };
      const done = workers.run(worker, run);
      const goOn = async () => {
        still.delete(goOn);
        worker.isStill = false;
        release();
        await done;
      };
      await Promise.race([done, isStill]);
      return goOn;
    },
  };
};

/** The shortest time between two slots, in milliseconds: 100 or more is ten a second at most. */
export const shortestGap = (restarts: readonly Restart[]): number => {
  const slots = restarts.map(({ nextAttemptAt }) => nextAttemptAt).toSorted((one, other) => one - other);
  return Math.min(...slots.slice(1).map((slot, at) => slot - (slots[at] ?? Number.NaN)));
};
