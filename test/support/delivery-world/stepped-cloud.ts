import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { makeTables, type TablesCommand } from '@emissor/cloud/dynamodb/tables';
import { makeVirtualCloud, type Outcome, type ProcessOutside } from '@emissor/cloud/virtual';
import type { SQSBatchResponse } from 'aws-lambda';
import { deadLetters, queueOf } from '../../../lab/world/stage.ts';
import type { Dynamo } from '../../../lambdas/platform/aws/dynamo.ts';
import { tableDefinition, tableNames } from '../../../tools/support/tables.ts';
import { makeSteppedTime } from './stepped-time.ts';
import type { Interception } from './watched-tables.ts';

/** A call at which a process dies: this many from now, before or after the call has its effect. */
export interface Crash {
  readonly afterCalls: number;
  readonly hasEffect: boolean;
  readonly onDeath?: () => void;
}

/** A write to the store at which a process stands still, before or after it has its effect. */
export interface Stall {
  /** Asked once for every write of the process, in order. */
  readonly isHere: (isRestart: boolean) => boolean;
  readonly hasEffect: boolean;
}

/** A virtual cloud whose functions a test invokes one by one. */
export type SteppedCloud = ReturnType<typeof makeSteppedCloud>;

/** Asks for messages where there are none: to a process that asks for more than a test hands out, a queue seems empty. */
export const noMessages = new ReceiveMessageCommand({ QueueUrl: 'empty' });

/** Makes what a function of the cloud does with an event, of what leads out of its process. */
export type Start = (process: ProcessOutside) => { handle(event: unknown): Promise<unknown> }['handle'];

/**
 * Makes a virtual cloud with the queues and the tables of delivery. Nothing takes time in it but what waits. Time runs while
 * something that was invoked goes on, or where it is moved.
 *
 * @param execute - stands before the tables
 */
export function makeSteppedCloud({ start, visibilityTimeout, functions, execute }: SteppedCloudParts) {
  const tables = makeTables({
    definitions: tableNames().map(name => ({ TableName: name, ...tableDefinition(name) })),
    now: () => cloud.now(),
    translate: { marshallOptions: { removeUndefinedValues: true }, unmarshallOptions: { wrapNumbers: Number } },
  });
  const cloud = makeVirtualCloud({
    seed: 1,
    start,
    costs: { coreShare: 1, call: 0, entry: 0, timer: 0, message: 0, latency: {}, invoke: 0, coldStart: 0 },
    tables: () => ({ execute: (command: TablesCommand<object>) => execute(command, tables.execute) }),
    queues: [
      ...Object.values(queueOf).map(name => ({ name, visibilityTimeout, deadLetters })),
      { name: deadLetters.queue },
      { name: 'empty' },
    ],
    functions: Object.entries(functions).map(([name, startOne]) => ({ name, timeout: year, start: startIn(startOne) })),
    faults: { fateOf: call => crashAt(call.processId) },
    keepsTrace: false,
  });
  /** What each process is at work on. */
  const invocations = new Map<string, Invocation>();
  const still = new Set<string>();
  /** What the next invocation is to meet. */
  let next: Pick<Invocation, 'stall' | 'reachStall'> = {};
  const dynamo: Dynamo = async command => execute(command, tables.execute);
  /** Nobody watches it. */
  const quietDynamo: Dynamo = async command => tables.execute(command);
  const { during, leave, runTo, time } = makeSteppedTime(cloud);
  return { cloud, tables, dynamo, quietDynamo, time, invoke, work, runTo, stallOf, standStill, isStill };

  /** Invokes a function. Its process dies where it is planned. */
  function invoke(name: string, event: unknown, crash?: Crash): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const planned = { ...next, ...(crash && { crash: { ...crash } }) };
    cloud.function(name).invoke({ event, leave: () => leave(promise), ...planned }, resolve);
    next = {};
    return during(promise);
  }

  /** Does something until its end, or until the process that it invokes first stands still. Returns what lets it go on to its end. */
  async function work(run: () => Promise<unknown>, stall?: Stall): Promise<() => Promise<void>> {
    const { promise: isStill, resolve } = Promise.withResolvers<ProcessOutside['process']>();
    next = { stall, reachStall: resolve };
    const done = run();
    const still = await Promise.race([done.then(() => undefined), isStill]);
    return async function goOn() {
      still?.thaw(still.invocationId());
      await during(done);
    };
  }

  function startIn(startOne: Start) {
    return function startProcess(outside: ProcessOutside) {
      const handle = startOne(outside);
      return function handleNext(invocation: Invocation) {
        invocations.set(outside.process.id, invocation);
        return handle(invocation.event);
      };
    };
  }

  function crashAt(processId: string): 'dies_after' | 'dies_before' | undefined {
    const crash = invocations.get(processId)?.crash;
    if (!crash) return undefined;
    crash.afterCalls -= 1;
    if (crash.afterCalls !== -1) return undefined;
    crash.onDeath?.();
    return crash.hasEffect ? 'dies_after' : 'dies_before';
  }

  function stallOf({ id }: ProcessOutside['process']): Stall | undefined {
    return invocations.get(id)?.stall;
  }

  function isStill({ id }: ProcessOutside['process']): boolean {
    return still.has(id);
  }

  /** Has a process stand still until it goes on. Time does not wait for it. */
  async function standStill(process: ProcessOutside['process']): Promise<void> {
    const invocation = invocations.get(process.id);
    process.freeze();
    still.add(process.id);
    invocation?.leave();
    invocation?.reachStall?.(process);
    await process.time.turn();
    still.delete(process.id);
  }
}

/** Returns whether a consumer has answered that it is done with its messages. */
export function isAcknowledged(outcome: Outcome): boolean {
  return outcome.status === 'answered' && leftBy(outcome).size === 0;
}

/** Returns the ids of the messages that a consumer has answered that it is not done with. */
export function leftBy(outcome: Extract<Outcome, { status: 'answered' }>): ReadonlySet<string> {
  const { batchItemFailures = [] }: Partial<SQSBatchResponse> = Object(outcome.result);
  return new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
}

interface Invocation {
  readonly event: unknown;
  readonly stall?: Stall | undefined;
  readonly reachStall?: (process: ProcessOutside['process']) => void;
  readonly crash?: Omit<Crash, 'afterCalls'> & { afterCalls: number };
  /** Time waits for its end no longer. */
  readonly leave: () => void;
}

interface SteppedCloudParts {
  /** The first moment, in milliseconds since the epoch. */
  readonly start: number;
  /** Seconds. */
  readonly visibilityTimeout: number;
  readonly functions: Readonly<Record<string, Start>>;
  readonly execute: Interception;
}

/** In milliseconds. A process that stands still is not killed: it is to do as much harm as it can. */
const year = 365 * 24 * 3_600_000;
