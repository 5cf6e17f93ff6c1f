import { randomBytes } from 'node:crypto';
import { makeKms } from '@emissor/cloud/kms';
import { eventOf, type ProcessOutside } from '@emissor/cloud/virtual';
import type { Context, SQSEvent } from 'aws-lambda';
import { onTestFinished, vi } from 'vitest';
import { consumerTimeout, deliveryEnvironment, queueOf, visibilityTimeout } from '../../lab/world/stage.ts';
import { composeDeliver } from '../../lambdas/delivery/consumer/deliver.composition.ts';
import { type Lane, lanes } from '../../lambdas/delivery/lane-routing.ts';
import { composeSweep } from '../../lambdas/delivery/sweeper/sweep.composition.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { makeHandler } from '../../lambdas/platform/lambda-handler.ts';
import { makeTelemetry, type Telemetry } from '../../lambdas/platform/telemetry.ts';
import { type Metrics, makeMetrics } from '../support/cloudwatch/metrics.ts';
import { isAcknowledged, makeSteppedCloud, type Start } from '../support/delivery-world/stepped-cloud.ts';
import { makeOutside, noFaults } from './watched-outside.ts';
import { fillTables } from './watched-tables.ts';

/** The namespace of the stage whose alarms are tried. */
const namespace = 'Emissor/prod';

/** Begins to collect what functions write, with a clock that a test moves. */
export function collectMetrics(start = Date.UTC(2026, 10, 20, 12)): Metrics {
  const metrics = makeMetrics();
  vi.useFakeTimers({ toFake: ['Date'], now: start });
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', namespace);
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

/** Invokes a function as Lambda does. Its context tells no remaining time, by which the handler would set a timer of this machine. */
export function invoke<Event, Result>(
  telemetry: Telemetry,
  run: (event: Event) => Promise<Result>,
  event: Event,
): Promise<Result> {
  return makeHandler<Event, Result>(telemetry, run)(event, { awsRequestId: 'r', functionVersion: '7' } as never);
}

/**
 * The delivery functions as they are deployed, in a virtual cloud. Each message has an invocation of its own, by a process that knows of
 * no other, as on a quiet stage. The clock of the test follows that of the cloud.
 */
export async function startDelivery() {
  const faults = noFaults();
  const kms = makeKms({ bytes: randomBytes });
  const outsideOf = makeOutside(faults, kms);
  const stepped = makeSteppedCloud({
    start: Date.now(),
    visibilityTimeout,
    execute: (command, next) => next(command),
    functions: { ...Object.fromEntries(lanes.map(lane => [lane, consumerOf(lane)])), sweep },
  });
  const { cloud, dynamo } = stepped;
  const { now } = cloud;
  /** The moment when each event was published, by its body. */
  const published = new Map<string, number>();
  for (const lane of lanes) cloud.queue(queueOf[lane]).onVisible(() => takeMessages(lane));
  cloud.at(now(), sweepEachMinute);
  await fillTables({ dynamo, kms });
  return { faults, publish, runUntil, oldestEventSeconds };

  function publish(): void {
    const id = randomId(22);
    const event = { id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 1, id };
    const body = JSON.stringify(event);
    published.set(body, now());
    cloud.send(queueOf.first, { body }, 'AROAPUBLISHER:one');
  }

  /** Moves the clock to a moment, and lets come what is due until then. */
  async function runUntil(moment: number): Promise<void> {
    for (const lane of lanes) takeMessages(lane);
    await stepped.runTo(moment);
    vi.setSystemTime(Math.max(moment, now()));
  }

  function oldestEventSeconds(): number {
    const moments = cloud
      .queue(queueOf.first)
      .bodies()
      .map(body => published.get(body) ?? now());
    return (now() - Math.min(now(), ...moments)) / 1_000;
  }

  /** Has the consumer of a lane process what is visible, once time runs. */
  function takeMessages(lane: Lane): void {
    const queue = cloud.queue(queueOf[lane]);
    cloud.at(now(), () => {
      for (let batch = receive(); batch.length > 0; batch = receive()) void consume(batch);
    });

    function receive() {
      return faults.off.includes(queue.name) ? [] : queue.receive(1);
    }

    async function consume(batch: ReturnType<typeof receive>): Promise<void> {
      const outcome = await stepped.invoke(lane, eventOf(batch, queue.name));
      if (outcome.status === 'failed') throw outcome.error;
      if (isAcknowledged(outcome)) for (const { receipt } of batch) queue.remove(receipt);
    }
  }

  function sweepEachMinute(): void {
    if (!faults.sweeper) void stepped.invoke('sweep', undefined);
    cloud.at(now() + 60_000, sweepEachMinute);
  }

  function consumerOf(lane: Lane): Start {
    return process => (event: SQSEvent) => {
      const telemetry = makeTelemetry(`deliver-${lane}`, 'delivery');
      const environment = { ...consumers, lane, queueUrl: queueOf[lane] };
      const deliver = composeDeliver(environment, outsideOf(process), telemetry);
      return invoke(telemetry, each => atItsTime(deliver(each, contextIn(process, consumerTimeout))), event);
    };
  }

  function sweep(...[process]: Parameters<Start>) {
    return () => {
      const telemetry = makeTelemetry('sweep');
      const run = composeSweep(sweeper, outsideOf(process), telemetry);
      return invoke(telemetry, each => atItsTime(run(each, contextIn(process, sweepTimeout))), undefined);
    };
  }

  /** What is written at the end of an invocation has the time of the cloud. */
  async function atItsTime<Result>(run: Promise<Result>): Promise<Result> {
    return run.finally(() => void vi.setSystemTime(now()));
  }
}

/** Returns the context of an invocation that may take so many milliseconds. */
function contextIn({ time: { now } }: ProcessOutside, limit: number): Pick<Context, 'getRemainingTimeInMillis'> {
  const end = now() + limit;
  return { getRemainingTimeInMillis: () => end - now() };
}

/** In milliseconds, as in `lib/delivery-stack.ts`. */
const sweepTimeout = 55_000;

const consumers: Omit<Parameters<typeof composeDeliver>[0], 'lane' | 'queueUrl'> = {
  ...deliveryEnvironment,
  keyringTable: 'Keyring',
  demandsUrl: 'https://demandas.example.com',
  retrySchedule: [5_000, 300_000, 1_800_000],
  attemptTimeoutMs: 15_000,
  ownHosts: [],
  serviceVersion: '0',
};
const sweeper = {
  ...deliveryEnvironment,
  operationsTopicArn: 'arn:aws:sns:sa-east-1:111122223333:operations',
};
