import type { Context } from 'aws-lambda';
import { onTestFinished, vi } from 'vitest';
import type { Lane } from '../../lambdas/delivery/lane-routing.ts';
import { composeSweep } from '../../lambdas/delivery/sweeper/sweep.composition.ts';
import { makeDeliveryTelemetry } from '../../lambdas/delivery/telemetry.ts';
import { composeDeliver } from '../../lambdas/delivery/worker/deliver.composition.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { makeHandler } from '../../lambdas/platform/lambda-handler.ts';
import { machine } from '../../lambdas/platform/outside.ts';
import type { Telemetry } from '../../lambdas/platform/telemetry.ts';
import type { Time } from '../../lambdas/platform/timer.ts';
import { type Metrics, makeMetrics } from '../support/cloudwatch/metrics.ts';
import { startDatabase } from '../support/database/database.ts';
import { makeFakeKms } from '../support/fake-kms.ts';
import { makeVirtualProcesses } from '../support/virtual-processes.ts';
import { makeOutside, noFaults } from './watched-outside.ts';
import { type Message, makeWatchedQueues } from './watched-queues.ts';
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
 * The delivery functions as they are deployed, over a real store, with queues whose messages come back when they were not processed.
 * Each invocation has a process of its own, as on a quiet stage. Time passes where all of them wait.
 */
export async function startDelivery() {
  const { dynamo, stop } = await startDatabase('Deliveries', 'Webhooks', 'Keyring');
  onTestFinished(stop);
  const { now } = machine.time;
  const [kms, faults] = [makeFakeKms(), noFaults()];
  const [queues, processes] = [makeWatchedQueues(now), makeVirtualProcesses(now)];
  const outside = makeOutside({ faults, dynamo, kms, queues, processes });
  const tables = await fillTables({ dynamo, kms: kms.client });
  let sweepAt = now();
  return { ...tables, faults, publish, runUntil };

  function publish(): void {
    const event = { id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 1, id: randomId(16) };
    queues.put('events', JSON.stringify(event));
  }

  /** Moves the clock to a moment, and lets come what is due until then. */
  async function runUntil(moment: number): Promise<void> {
    let steps = 0;
    for (let next = nextStep(); next.at <= moment; next = nextStep()) {
      if (next.at > now()) {
        vi.setSystemTime(next.at);
        steps = 0;
      }
      next.act();
      await processes.untilAllWait();
      steps += 1;
      if (steps > 10_000) throw new Error('There is no end to what is due.');
    }
    vi.setSystemTime(Math.max(moment, now()));
  }

  /** Returns what comes next. Of what comes at the same time, timers are first, and a sweep is last. */
  function nextStep(): Step {
    const messages = lanes.flatMap(({ lane, queue }) => {
      const message = faults.off.includes(queue) ? undefined : queues.first(queue);
      return message ? [{ at: message.visibleAt, act: () => consume(message, lane) }] : [];
    });
    const timer = { at: processes.nextTimer(), act: processes.callBack };
    const steps: Step[] = [timer, ...messages, { at: sweepAt, act: sweep }];
    return steps.reduce((first, other) => (other.at < first.at ? other : first));
  }

  function consume(message: Message, lane: Lane): void {
    const record = queues.receive(message);
    processes.start(async time => {
      const telemetry = makeDeliveryTelemetry(`deliver-${lane}`, 'delivery');
      const environment = { ...consumers, LANE: lane, QUEUE_URL: message.queue };
      const deliver = composeDeliver(environment, outside(time), telemetry);
      const context = contextOf(time, consumerTimeout);
      const result = await invoke(telemetry, event => deliver(event, context), { Records: [record] });
      if (result.batchItemFailures.length === 0) queues.remove(message);
    });
  }

  function sweep(): void {
    sweepAt += 60_000;
    if (faults.sweeper) return;
    processes.start(async time => {
      const telemetry = makeDeliveryTelemetry('sweep');
      const run = composeSweep(sweeper, outside(time), telemetry);
      const context = contextOf(time, sweepTimeout);
      await invoke(telemetry, event => run(event, context), undefined).catch(() => undefined);
    });
  }
}

interface Step {
  readonly at: number;
  readonly act: () => void;
}

/** Returns the context of an invocation that may take so many milliseconds. */
function contextOf({ now }: Time, limit: number): Pick<Context, 'getRemainingTimeInMillis'> {
  const end = now() + limit;
  return { getRemainingTimeInMillis: () => end - now() };
}

/** The times that the functions may take, in milliseconds: as in `lib/delivery-lanes.ts`, with these attempts, and in `lib/delivery-stack.ts`. */
const consumerTimeout = 45_000;
const sweepTimeout = 55_000;

const lanes = [
  { lane: 'first', queue: 'events' },
  { lane: 'retry', queue: 'retries' },
  { lane: 'slow', queue: 'slow' },
] as const;

const shared = {
  WEBHOOKS_TABLE: 'Webhooks',
  DELIVERIES_TABLE: 'Deliveries',
  RETRY_QUEUE_URL: 'retries',
  SLOW_QUEUE_URL: 'slow',
  DEAD_LETTER_QUEUE_URL: 'dead-letters',
  REFUSED_EVENTS_TOPIC_ARN: 'arn:aws:sns:sa-east-1:111122223333:refused',
  SLOW_RATE: 20,
  HISTORY_DAYS: 30,
};
const consumers: Omit<Parameters<typeof composeDeliver>[0], 'LANE' | 'QUEUE_URL'> = {
  ...shared,
  KEYRING_TABLE: 'Keyring',
  DEMANDS_URL: 'https://demandas.example.com',
  RETRY_SCHEDULE: [5_000, 300_000, 1_800_000],
  ATTEMPT_TIMEOUT_MS: 15_000,
  GIVE_UP: 'waiting',
  OWN_HOSTS: [],
  SERVICE_VERSION: '0',
};
const sweeper = {
  ...shared,
  EVENT_SOURCES: lanes.map(({ queue }) => queue),
  OPERATIONS_TOPIC_ARN: 'arn:aws:sns:sa-east-1:111122223333:operations',
};
