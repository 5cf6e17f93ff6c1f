import { executePartially, type RejectEntry } from '../dynamodb/partial.ts';
import { type FaultPlan, makeFaults } from '../faults.ts';
import { makeKms } from '../kms/kms.ts';
import { makeSeededRandom, type SeededRandom } from '../seeded-random.ts';
import { makeTopics, type TopicMessage } from '../sns.ts';
import { connectEventSource, type EventSource, eventOf, succeeded } from '../sqs/event-source.ts';
import type { QueueDefinition, Sent } from '../sqs/queue.ts';
import { makeQueues } from '../sqs/queues.ts';
import { makeTime } from '../time.ts';
import { type Call, type MakeCall, makeCalls, type WithMetadata } from './calls.ts';
import { type Costs, defaultCosts } from './costs.ts';
import type { FunctionDefinition, Outcome } from './lambda/definition.ts';
import { makeFunction, type VirtualFunction } from './lambda/function.ts';
import { makeProcesses, type Process, type ProcessTime } from './processes.ts';
import { makeRecord, type RecordOptions } from './record.ts';

export type { FaultPlan } from '../faults.ts';
export { ServiceError } from '../service-error.ts';
export { eventOf } from '../sqs/event-source.ts';
export { defaultCosts } from './costs.ts';
export type { FunctionDefinition, InvocationContext, Outcome } from './lambda/definition.ts';
export type { RecordedEvent } from './record.ts';

/** The definition of a virtual cloud. */
export interface VirtualCloudDefinition extends RecordOptions {
  readonly seed: number;
  /** The start time, in milliseconds since the epoch. */
  readonly start?: number;
  readonly queues?: readonly QueueDefinition[];
  /** Creates the tables. They respond synchronously, and the virtual cloud adds the latency of calls. */
  readonly tables?: () => Tables;
  readonly functions: readonly FunctionDefinition<ProcessRuntime>[];
  /** The maximum number of concurrent executions of all functions together. @default - no limit */
  readonly concurrency?: number | undefined;
  readonly faults?: FaultPlan;
  readonly costs?: Partial<Costs>;
}

/** Executes commands. `execute` is a method because methods may declare narrower command types. */
interface Tables {
  execute(command: unknown): object;
}

/** Gives a process access to everything outside itself. */
export interface ProcessRuntime {
  readonly process: Process;
  readonly time: ProcessTime;
  readonly random: Pick<SeededRandom, 'number' | 'bytes'>;
  readonly dynamodb: Client;
  readonly sqs: Client;
  readonly kms: Client;
  readonly sns: Client;
  /** Calls another service. `effect` runs in the service after half of the latency. */
  readonly call: <Output extends object>(call: Call, effect: () => Output) => Promise<WithMetadata<Output>>;
  /** Writes to the function's log. */
  readonly log: (text: string) => void;
}

/** A replacement for an SDK client. The response has the type that the SDK declares for the command. */
interface Client {
  readonly send: (command: unknown, options?: object) => Promise<never>;
}

export type VirtualCloud = ReturnType<typeof makeVirtualCloud>;

/** Creates a virtual cloud. The same definition produces the same events each time. */
export function makeVirtualCloud(definition: VirtualCloudDefinition) {
  const { seed, start = Date.UTC(2026, 0, 1), faults: plan = {}, concurrency = Number.POSITIVE_INFINITY } = definition;
  const costs = { ...defaultCosts, ...definition.costs };
  const randomOf = (name: string) => makeSeededRandom(seed, name);
  const time = makeTime(start, () => processes.clearCurrent());
  const { now } = time;
  const record = makeRecord(now, definition);
  const { note } = record;
  const faults = makeFaults(plan, now, randomOf);
  const processes = makeProcesses({ time, costs, note, randomOf }, plan.skew);
  const callsOf = makeCalls({ time, costs, faults, note });
  const arnOf = (queue: string) => `arn:aws:sqs:virtual:000000000000:${queue}`;
  let messages = 0;
  const queues = makeQueues(definition.queues ?? [], { time, faults, note, nextId, arnOf });
  const tables = definition.tables?.();
  const kms = makeKms(randomOf('kms'));
  const published: { readonly at: number; readonly topicArn: string; readonly message: TopicMessage }[] = [];
  const topics = makeTopics((topicArn, message) => published.push({ at: now(), topicArn, message }));
  const account = { free: concurrency };
  const functions = new Map(definition.functions.map(each => [each.name, deploy(each)]));

  return {
    now,
    /** Schedules an action from outside the cloud. */
    at: time.at,
    /** Runs until this time. */
    run: time.runUntil,
    runUntilTrue: time.runUntilTrue,
    invoke,
    /** Sends a message to a queue from outside the cloud. */
    send: (queue: string, message: Sent, sender = 'outside') => queues.find(queue).send(message, sender),
    queue: queues.find,
    function: functionOf,
    published,
    logs: record.logs,
    captureOutput,
    /** Stops all faults. */
    endFaults: faults.end,
    digest: record.digest,
    trace: record.trace,
  };

  /** Redirects the standard output of processes to the log. Returns a function that ends the redirection. */
  function captureOutput(): () => void {
    const { stdout } = process;
    const { write } = stdout;
    stdout.write = (text: string | Uint8Array, ...rest: []) => {
      const running = processes.current();
      if (!running) return write.call(stdout, text, ...rest);
      record.writeLog(running, String(text));
      return true;
    };
    return () => Object.assign(stdout, { write });
  }

  function nextId(): string {
    messages += 1;
    return `00000000-0000-4000-8000-${String(messages).padStart(12, '0')}`;
  }

  /** Invokes a function, and runs until the invocation ends. */
  async function invoke(name: string, event: unknown): Promise<Outcome> {
    const outcomes: Outcome[] = [];
    functionOf(name).invoke(structuredClone(event), outcome => outcomes.push(outcome));
    await time.runUntilTrue(() => outcomes.length > 0);
    const [outcome] = outcomes;
    if (!outcome) throw new Error(`The invocation of ${name} did not end.`);
    return outcome;
  }

  function functionOf(name: string): VirtualFunction {
    const target = functions.get(name);
    if (!target) throw new Error(`Function ${name} does not exist.`);
    return target;
  }

  function deploy(each: FunctionDefinition<ProcessRuntime>): VirtualFunction {
    const ids = randomOf(`invocations of ${each.name}`);
    const target = makeFunction(each, { time, costs, note, ids, account, startProcess: processes.start, runtimeOf });
    for (const source of each.sources ?? []) {
      const queue = queues.find(source.queue);
      const process: EventSource['process'] = (batch, done) => {
        const end = (outcome: Outcome) => done(outcome.status === 'returned' ? succeeded(batch, outcome.result) : []);
        target.invoke(eventOf(batch, queue.arn), end, batch.length * costs.message);
      };
      connectEventSource({ batchSize: 10, ...source, queue, time, process });
    }
    const { every = 0 } = each.schedule ?? {};
    if (every > 0) time.after(every, tick);
    return target;

    function tick(): void {
      target.invoke({ source: 'aws.events', time: new Date(now()).toISOString() }, () => {});
      time.after(every, tick);
    }
  }

  function runtimeOf(process: Process): ProcessRuntime {
    const call = callsOf(process);
    return {
      process,
      time: process.time,
      random: process.random,
      dynamodb: { send: makeSend(call, 'dynamodb', executeInTables) },
      sqs: {
        send: makeSend(call, 'sqs', (command: { input: object }) =>
          queues.execute(command, `AROAVIRTUAL:${process.functionName}`),
        ),
      },
      kms: { send: makeSend(call, 'kms', kms.execute) },
      sns: { send: makeSend(call, 'sns', topics.execute) },
      call,
      log: text => record.writeLog(process, text),
    };
  }

  function executeInTables(command: unknown, reject?: RejectEntry): object {
    if (!tables) throw new TypeError('This virtual cloud has no tables.');
    const execute = (each: unknown) => tables.execute(each);
    return reject ? executePartially(command, reject, execute) : execute(command);
  }
}

/** Creates the function that sends commands to a service. */
function makeSend(
  call: MakeCall,
  service: string,
  execute: (command: never, reject?: RejectEntry) => object,
): Client['send'] {
  return function send(command, options = {}) {
    const { abortSignal: signal }: { readonly abortSignal?: AbortSignal } = options;
    const details = describe(command as Command);
    return call({ service, ...details, signal }, reject => execute(command as never, reject)) as Promise<never>;
  };
}

/** Describes a command by the fields of its input. */
function describe(command: Command): Pick<Call, 'operation' | 'resource' | 'entries' | 'input'> {
  const { QueueUrl, TableName, RequestItems = {}, KeyId, TopicArn, Entries, Statements } = command.input;
  const resource = QueueUrl ?? TableName ?? KeyId ?? TopicArn ?? String(Object.keys(RequestItems));
  const requested = Object.values(RequestItems).flatMap(each => ('Keys' in each ? each.Keys : each));
  const entries = (Entries ?? Statements ?? requested).length || 1;
  return { operation: command.constructor.name.replace(/Command$/, ''), resource, entries, input: command.input };
}

interface Command {
  readonly input: {
    readonly [field in 'QueueUrl' | 'TableName' | 'KeyId' | 'TopicArn']?: string;
  } & {
    readonly [field in 'Entries' | 'Statements']?: readonly object[];
  } & {
    /** The keys or writes, by table. */
    readonly RequestItems?: Readonly<Record<string, readonly object[] | { readonly Keys: readonly object[] }>>;
  };
}
