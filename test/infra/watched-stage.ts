import type { ProcessRuntime } from '@emissor/cloud/virtual';
import { onTestFinished, vi } from 'vitest';
import { publicationOf } from '../../lab/world/arrival.ts';
import { makeWorld } from '../../lab/world/make-world.ts';
import { makeWorldRuntime } from '../../lab/world/process-runtime.ts';
import type { Reaction } from '../../lab/world/receivers.ts';
import { type Compositions, queueOf, stageValuesOf } from '../../lab/world/stage.ts';
import { composeDeliver } from '../../lambdas/delivery/consumer/deliver.composition.ts';
import { composeSweep } from '../../lambdas/delivery/sweeper/sweep.composition.ts';
import type { Dynamo } from '../../lambdas/platform/aws/dynamo.ts';
import { failureRecorder } from '../../lambdas/platform/aws/failed-call.ts';
import { makeHandler } from '../../lambdas/platform/lambda-handler.ts';
import { makeTelemetry, type Telemetry } from '../../lambdas/platform/telemetry.ts';
import { immediate } from '../support/stage.ts';
import { type Metrics, makeMetrics } from './cloudwatch.ts';

/** The namespace of the stage's metrics. */
const namespace = 'Emissor/prod';

/** Starts collecting the metrics that functions write, with a clock that the test sets. */
export function collectMetrics(start = Date.UTC(2026, 10, 20, 12)): Metrics {
  const metrics = makeMetrics();
  vi.useFakeTimers({ toFake: ['Date'], now: start });
  vi.stubEnv('METRICS_NAMESPACE', namespace);
  const written = vi.spyOn(process.stdout, 'write').mockImplementation(text => {
    metrics.addLine(String(text));
    return true;
  });
  onTestFinished(() => {
    written.mockRestore();
    vi.unstubAllEnvs();
    vi.useRealTimers();
  });
  return metrics;
}

/** Invokes a function like Lambda does. The context has no remaining time, so the handler does not set a real timer. */
export function invoke<Event, Result>(
  telemetry: Telemetry,
  run: (event: Event) => Promise<Result>,
  event: Event,
): Promise<Result> {
  const context = { awsRequestId: 'r', functionVersion: '7' } as never;
  return makeHandler<Event, Result>(telemetry, run)(event, context) as Promise<Result>; // the event is not a self-check
}

/** Returns the error for a throttled DynamoDB call, and reports the call like the SDK's logger does. */
export function throttled({ constructor: { name: commandName }, input }: { readonly input: object }): Error {
  const error = awsError('ThrottlingException');
  failureRecorder.error({ clientName: 'DynamoDBClient', commandName, input, error });
  return error;
}

/** Starts a simulated world with one account. Its functions write logs and metrics like deployed functions. */
export async function startDelivery(metrics: Metrics) {
  /** The faults of the stage, which tests enable and disable. */
  const faults = {
    kms: false, // KMS rejects all calls
    store: false, // DynamoDB throttles all calls
    off: [] as readonly string[], // the queues whose consumers have stopped
    sweeper: false, // the sweeper has stopped
    status: () => 200, // the status of the receiver's next response
    address: '93.184.216.34', // the address of the receiver
  };
  const processes: ProcessRuntime['process'][] = [];
  const lanes = new Map(Object.entries(queueOf).map(([lane, queue]) => [`deliver-${lane}`, queue]));
  const isOff = (name: string) => faults.off.includes(lanes.get(name) ?? '') || (faults.sweeper && name === 'sweep');
  const world = makeWorld(1, 'none', compositions, {
    accounts: [{ id: account, host, kind: 'quick', isModified: false }],
    ...{ publications: [], hasPeople: false, keepsTrace: false, tableLag: 0 },
    cloud: { start: Date.now(), costs: immediate },
    faults: { outcomeOf: ({ functionName }) => (isOff(functionName) ? 'dies_before' : 'fine') },
    stage: { values: { ...stageValuesOf(1), retrySchedule: [5_000, 300_000, 1_800_000] }, runtimeOf },
  });
  onTestFinished(world.end);
  const { cloud } = world;
  /** The publication time of each event, by its body. */
  const publishedAt = new Map<string, number>();
  let linesRead = 0;
  await world.start();
  world.receivers.setReaction(host, (): Reaction => ({ status: faults.status(), afterMs: 0 }));
  return { faults, publish, runUntil, oldestEventSeconds };

  function runtimeOf(process: ProcessRuntime) {
    processes.push(process.process);
    const runtime = makeWorldRuntime(process, world.receivers);
    const dynamo: Dynamo = async (command, options) => {
      if (faults.store) throw throttled(command);
      return runtime.dynamo(command, options);
    };
    const send: typeof runtime.kms.send = (command: never) =>
      faults.kms ? Promise.reject(awsError('AccessDeniedException')) : runtime.kms.send(command);
    const random = { ...runtime.random, number: () => 0.5 };
    return { ...runtime, random, dynamo, kms: { send }, resolve: async () => [faults.address] };
  }

  function publish(): void {
    const { body } = publicationOf({ account, at: 0, number: publishedAt.size });
    publishedAt.set(body, cloud.now());
    cloud.send(queueOf.first, { body, group: account });
  }

  /** Runs the world until a time. If KMS fails, first ends the processes, because they have unwrapped keys. */
  async function runUntil(time: number): Promise<void> {
    if (faults.kms) for (const process of processes.splice(0)) process.kill('it is idle');
    await cloud.run(Math.max(time, cloud.now()));
    const lines = cloud.logs({});
    for (const { text } of lines.slice(linesRead)) metrics.addLine(text);
    linesRead = lines.length;
    vi.setSystemTime(cloud.now());
  }

  function oldestEventSeconds(): number {
    const sentTimes = cloud
      .queue(queueOf.first)
      .bodies()
      .map(body => publishedAt.get(body) ?? cloud.now());
    return (cloud.now() - Math.min(cloud.now(), ...sentTimes)) / 1_000;
  }
}

/** The delivery functions, with telemetry for each. */
const compositions: Partial<Compositions> = {
  deliver: (environment, runtime) => {
    const telemetry = makeTelemetry(`deliver-${environment.lane}`, 'delivery', runtime.time.now);
    const deliver = composeDeliver(environment, runtime, telemetry);
    return (event, context) => invoke(telemetry, each => deliver(each, context), event);
  },
  sweep: (environment, runtime) => {
    const telemetry = makeTelemetry('sweep', 'sweep', runtime.time.now);
    const sweep = composeSweep(environment, runtime, telemetry);
    return (event, context) => invoke(telemetry, each => sweep(each, context), event);
  },
};

const account = 'conta-1';
const host = 'receiver.example.com';

function awsError(name: string): Error {
  return Object.assign(new Error('…'), { name });
}
