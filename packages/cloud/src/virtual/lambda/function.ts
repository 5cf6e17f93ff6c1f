import type { SeededRandom } from '../../seeded-random.ts';
import type { VirtualTime } from '../../time.ts';
import type { Costs } from '../costs.ts';
import type { Process } from '../processes.ts';
import type { Note } from '../record.ts';
import type { FunctionDefinition, Handler, InvocationContext, Outcome } from './definition.ts';

export type VirtualFunction = ReturnType<typeof makeFunction>;

/** Creates a function that starts processes on demand and reuses them. */
export function makeFunction<Runtime>(definition: FunctionDefinition<Runtime>, context: FunctionContext<Runtime>) {
  const { name, timeout, concurrency = Number.POSITIVE_INFINITY } = definition;
  const { time, costs, note, ids, account, startProcess, runtimeOf } = context;
  /** The idle processes. The function reuses the most recently used process first. */
  const idle: Running[] = [];
  let liveCount = 0;
  let startedCount = 0;
  let invocations = 0;
  return { invoke };

  /**
   * Invokes the function after the invocation latency.
   *
   * @param work - the milliseconds of processor time before the handler receives its event
   */
  function invoke(event: unknown, onEnd: (outcome: Outcome) => void, work = 0): void {
    time.after(costs.invoke, () => {
      const isFull = idle.length === 0 && liveCount >= concurrency;
      if (isFull || account.free < 1) return onEnd({ status: 'throttled' });
      account.free -= 1;
      const end = (outcome: Outcome) => {
        account.free += 1;
        onEnd(outcome);
      };
      const warm = idle.pop();
      if (warm) return run(warm, event, end, work);
      startedCount += 1;
      liveCount += 1;
      const process = startProcess(name, startedCount);
      onDeath(process, end, { status: 'died' });
      time.after(costs.coldStart, () =>
        process.deliver(() => load(process, handler => run({ process, handler }, event, end, work), end)),
      );
    });
  }

  function onDeath(process: Process, end: (outcome: Outcome) => void, outcome: Outcome): void {
    process.onDeath(() => {
      liveCount -= 1;
      end(outcome);
    });
  }

  function load(process: Process, use: (handler: Handler) => void, end: (outcome: Outcome) => void): void {
    callAsync(() => definition.start(runtimeOf(process))).then(use, error => {
      onDeath(process, end, { status: 'failed', error });
      process.kill('the handler was not created');
    });
  }

  function run(running: Running, event: unknown, end: (outcome: Outcome) => void, work: number): void {
    const { process, handler } = running;
    invocations += 1;
    const label = `${process.id} ${invocations}`;
    const id = ids.bytes(16).toString('hex');
    const awsRequestId = id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    const deadline = time.now() + timeout;
    const getRemainingTimeInMillis = () => deadline - time.now();
    const invocationContext = { awsRequestId, functionName: name, functionVersion: '1', getRemainingTimeInMillis };
    const cancelTimeout = time.at(deadline, () => process.kill('timeout'));
    onDeath(
      process,
      outcome => {
        cancelTimeout();
        end(outcome);
      },
      { status: 'died' },
    );
    process.thaw(awsRequestId);
    process.work(work);
    process.deliver(() => {
      note('invocation', `${label} starts`, () => event);
      callAsync(() => handler(event, invocationContext satisfies InvocationContext)).then(
        result => settle({ status: 'returned', result }),
        error => settle({ status: 'failed', error }),
      );
    });

    /** Sends the response once the thread is free, and freezes work that the handler did not await. */
    function settle(outcome: Outcome): void {
      time.at(process.work(0), () => {
        if (process.isDead()) return;
        cancelTimeout();
        process.freeze();
        process.onDeath(() => {
          liveCount -= 1;
          idle.splice(idle.indexOf(running), 1);
        });
        note('invocation', `${label} ${textOf(outcome)}`, () => outcome);
        idle.push(running);
        end(outcome);
      });
    }
  }
}

interface FunctionContext<Runtime> {
  readonly time: Pick<VirtualTime, 'now' | 'at' | 'after'>;
  readonly costs: Pick<Costs, 'coldStart' | 'invoke'>;
  readonly note: Note;
  readonly ids: Pick<SeededRandom, 'bytes'>;
  /** The remaining concurrency of the account, which all functions share. */
  readonly account: { free: number };
  readonly startProcess: (functionName: string, number: number) => Process;
  readonly runtimeOf: (process: Process) => Runtime;
}

interface Running {
  readonly process: Process;
  readonly handler: Handler;
}

/** Converts a synchronous throw into a rejection. */
async function callAsync<Result>(act: () => Result | Promise<Result>): Promise<Result> {
  return act();
}

function textOf(outcome: Outcome): string {
  const isError = outcome.status === 'failed' && outcome.error instanceof Error;
  return isError ? `failed ${outcome.error.name}` : outcome.status;
}
