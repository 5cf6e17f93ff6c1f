import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { demoOf } from '../../tools/support/local-run.ts';
import { makeServiceClient, passwordGrant } from '../../tools/support/service-client.ts';
import { median, type Percentiles, percentilesOf } from '../../tools/support/statistics.ts';
import { batchesOf, batchSize, type Consumer, type Series } from './consumer.ts';
import { type DeliveryTestbed, host, startDeliveryTestbed } from './delivery-testbed.ts';

/** The CPU time, throughput and batch times of a consumer in one scenario. CPU time and throughput are medians over the rounds. */
export interface DeliveryRow {
  readonly scenario: string;
  /** The CPU time per delivery, in milliseconds. */
  readonly cpuMs: number;
  readonly perSecond: number;
  /** The percentiles of all batch times, from invocation to acknowledgement. */
  readonly times: Percentiles;
}

export interface DeliveryResult {
  readonly rows: readonly DeliveryRow[];
  /** The CPU times for a receiver that never responds, in milliseconds. */
  readonly hanging: {
    readonly perAttempt: number;
    /** The CPU time for each later event, which the consumer moves to the slow lane. */
    readonly perMove: number;
  };
}

/** The size of a measurement, in batches of 10 messages. Scenarios with batches of 1 process four times as many batches. */
export interface DeliverySize {
  readonly rounds: number;
  /** The number of measured batches in a round. */
  readonly batches: number;
  /** The number of warm-up batches, which are not measured. */
  readonly warmUp: number;
}

/** Measures the cost and duration of a delivery in one consumer process. */
export async function measureDelivery(size: DeliverySize, progress: (label: string) => void): Promise<DeliveryResult> {
  const testbed = await startDeliveryTestbed();
  try {
    const { getTokens, register } = makeServiceClient(testbed.outputs);
    const { client, user } = demoOf(testbed.outputs);
    const { access_token: token } = await getTokens(passwordGrant(client, user));
    const autorizacao = 'Bearer the-receivers-own-secret';
    for (const [evento, path] of Object.entries(receivers))
      await register(token, { evento, url: `https://${host}/${path}`, autorizacao });

    const consumer = testbed.startConsumer();
    const rows: DeliveryRow[] = [];
    for (const scenario of scenarios) {
      progress(scenario.name);
      rows.push(await measureScenario(scenario, consumer, testbed, size));
      const [received, expected] = [await testbed.received(), consumer.sentMessages()];
      if (received !== expected)
        throw new Error(`${scenario.name}: ${received} requests arrived instead of ${expected}.`);
    }
    progress('with a receiver that hangs');
    return { rows, hanging: await measureHanging(testbed, size) };
  } finally {
    await testbed.stop();
  }
}

const quickEvent: EventName = 'demanda.criada';
const slowEvent: EventName = 'demanda.cancelada';
const hangingEvent: EventName = 'demanda.finalizada';

/** The path of each event's receiver. A number is the response delay in milliseconds. */
const receivers = { [quickEvent]: '2', [slowEvent]: '200', [hangingEvent]: 'never' };

interface Scenario {
  readonly name: string;
  readonly event: EventName;
  readonly messages: number;
}

const scenarios: readonly Scenario[] = [
  { name: 'batches of 10', event: quickEvent, messages: batchSize },
  { name: 'batches of 10, responses after 200 ms', event: slowEvent, messages: batchSize },
  { name: 'message by message', event: quickEvent, messages: 1 },
];

/** Measures a scenario. The first batch of each round reopens connections and is not measured. */
async function measureScenario(
  { name, event, messages }: Scenario,
  { consume }: Consumer,
  { outputs }: DeliveryTestbed,
  { rounds, batches, warmUp }: DeliverySize,
): Promise<DeliveryRow> {
  const makeBatch = batchesOf(outputs, Array<EventName>(messages).fill(event));
  const batchFactor = messages === 1 ? 4 : 1;
  await consume(warmUp * batchFactor, makeBatch);
  const seriesByRound: Series[] = [];
  for (let round = 0; round < rounds; round++) {
    await consume(1, makeBatch);
    seriesByRound.push(await consume(batches * batchFactor, makeBatch));
  }
  return {
    scenario: name,
    cpuMs: median(seriesByRound.map(cpuPerDelivery)),
    perSecond: median(seriesByRound.map(perSecond)),
    times: percentilesOf(seriesByRound.flatMap(series => series.times)),
  };
}

/** Measures the CPU cost of a receiver that never responds. `lab/world` measures its effect on other webhooks. */
async function measureHanging({ startConsumer, outputs }: DeliveryTestbed, size: DeliverySize) {
  const { consume } = startConsumer();
  await consume(size.warmUp, batchesOf(outputs, Array<EventName>(batchSize).fill(quickEvent)));
  const hanging = batchesOf(outputs, Array<EventName>(batchSize).fill(hangingEvent));
  const perAttempt = cpuPerDelivery(await consume(1, hanging));
  return { perAttempt, perMove: cpuPerDelivery(await consume(size.batches, hanging)) };
}

function cpuPerDelivery({ cpuMs, deliveries }: Series): number {
  return cpuMs / deliveries;
}

function perSecond({ times, deliveries }: Series): number {
  return (deliveries * 1_000) / times.reduce((sum, time) => sum + time, 0);
}
