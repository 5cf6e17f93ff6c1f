import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type EventName, webhookKey } from '../../lambdas/webhooks/webhook.ts';
import { demoOf } from '../../tools/support/local-run.ts';
import { makeServiceClient, passwordGrant } from '../../tools/support/service-client.ts';
import { median } from '../../tools/support/statistics.ts';
import { startCallCounter } from './call-counter.ts';
import { batchesOf, batchSize, type Consumer, type MakeBatch } from './consumer.ts';
import { type DeliveryTestbed, host, hostOf, type Network, startDeliveryTestbed } from './delivery-testbed.ts';
import { type HangingReceiverResult, measureHangingReceiver } from './hanging-receiver.ts';
import {
  alternate,
  cpuPerDelivery,
  type DeliverySize,
  perSecond,
  type Throughput,
  throughputOf,
} from './throughput.ts';

/** One scenario: our consumer beside the plain one. */
export interface DeliveryRow {
  readonly what: string;
  readonly ours: Throughput;
  readonly plain: Throughput;
  /** Medians of the ratios of neighbouring rounds: they hold when the machine's speed drifts. */
  readonly cpuRatio: number;
  readonly speedRatio: number;
}

/** The measurements of delivery. */
export interface DeliveryResult {
  readonly rows: readonly DeliveryRow[];
  readonly hanging: HangingReceiverResult;
  /** DynamoDB calls per successful first attempt, by operation. */
  readonly calls: readonly { readonly operation: string; readonly perDelivery: number }[];
}

/** Measures what a delivery costs one consumer process, and how long it takes. */
export async function measureDelivery(size: DeliverySize, progress: (what: string) => void): Promise<DeliveryResult> {
  const testbed = await startDeliveryTestbed();
  try {
    const { getTokens, register } = makeServiceClient(testbed.outputs);
    const { client, user } = demoOf(testbed.outputs);
    const { access_token: token } = await getTokens(passwordGrant(client, user));
    const autorizacao = 'Bearer the-receivers-own-secret';
    for (const [evento, path] of Object.entries(receivers))
      await register(token, { evento, url: `https://${host}/${path}`, autorizacao });

    const pairs = new Map<Network, Pair>();
    const rows: DeliveryRow[] = [];
    for (const scenario of scenarios) {
      progress(scenario.what);
      const { network } = scenario;
      const pair = pairs.get(network) ?? beginPair(testbed, network);
      pairs.set(network, pair);
      rows.push(await compare(scenario, pair, testbed, size));
      const expected = [...pairs.values()].reduce(
        (sum, { ours, plain }) => sum + ours.handedOver() + plain.handedOver(),
        0,
      );
      const received = await testbed.received();
      if (received !== expected)
        throw new Error(`${scenario.what}: ${received} requests came, not ${expected} by now.`);
    }
    progress('calls');
    const calls = await countCalls(testbed, size.batches);
    progress('beside a receiver that hangs');
    return { rows, hanging: await measureHangingReceiver(testbed, { quickEvent, hangingEvent }, size), calls };
  } finally {
    await testbed.stop();
  }
}

const quickEvent: EventName = 'demanda.criada';
const slowEvent: EventName = 'demanda.cancelada';
const scatteredEvent: EventName = 'proposta.recebida';
const hangingEvent: EventName = 'demanda.finalizada';

/** The place of each event's receiver; after how many milliseconds it answers is its path. */
const receivers = { [quickEvent]: '2', [slowEvent]: '200', [scatteredEvent]: '2', [hangingEvent]: 'never' };

interface Pair {
  readonly ours: Consumer;
  readonly plain: Consumer;
}

const emulated = { network: 'emulated' } as const;

const scenarios: readonly Scenario[] = [
  { what: 'batches of 10', event: quickEvent, messages: batchSize, ...emulated },
  { what: 'batches of 10, answered after 200 ms', event: slowEvent, messages: batchSize, ...emulated },
  { what: 'message by message', event: quickEvent, messages: 1, ...emulated },
  { what: 'message by message, a host each', event: scatteredEvent, messages: 1, hostEach: true, ...emulated },
  {
    what: 'batches of 10, real DNS, TLS to the store',
    event: quickEvent,
    messages: batchSize,
    network: 'real DNS and TLS',
  },
];

function beginPair({ begin }: DeliveryTestbed, network: Network): Pair {
  return {
    ours: begin('ours', network),
    plain: begin('plain', network),
  };
}

async function compare(
  { what, event, messages, hostEach = false }: Scenario,
  { ours, plain }: Pair,
  testbed: DeliveryTestbed,
  size: DeliverySize,
): Promise<DeliveryRow> {
  const makeBatch = batchesOf(testbed.outputs, Array<EventName>(messages).fill(event));
  const next = hostEach ? movingHosts(testbed, event, makeBatch) : makeBatch;
  const { ours: ourRounds, plain: plainRounds } = await alternate(
    { ours: counts => ours.consume(counts, next), plain: counts => plain.consume(counts, next) },
    messages === 1 ? { ...size, batches: size.batches * 4, warmUp: size.warmUp * 4 } : size,
  );
  const ratios = ourRounds.map((round, at) => {
    const other = plainRounds[at] ?? round;
    return { cpu: cpuPerDelivery(round) / cpuPerDelivery(other), speed: perSecond(round) / perSecond(other) };
  });
  return {
    what,
    ours: throughputOf(ourRounds),
    plain: throughputOf(plainRounds),
    cpuRatio: median(ratios.map(({ cpu }) => cpu)),
    speedRatio: median(ratios.map(({ speed }) => speed)),
  };
}

/** DynamoDB calls per successful first attempt, by operation. */
async function countCalls({ begin, outputs }: DeliveryTestbed, batches: number): Promise<DeliveryResult['calls']> {
  const counter = await startCallCounter(outputs.DynamoDbEndpoint);
  try {
    const counted = begin('ours', 'emulated', counter.endpoint);
    const quick = batchesOf(outputs, Array<EventName>(batchSize).fill(quickEvent));
    await counted.consume(1, quick); // reads the keyring, once in 30 s
    counter.take();
    const { deliveries } = await counted.consume(batches, quick);
    return [...counter.take()].map(([operation, count]) => ({ operation, perDelivery: count / deliveries }));
  } finally {
    counter.stop();
  }
}

interface Scenario {
  readonly what: string;
  readonly event: EventName;
  readonly messages: number;
  readonly hostEach?: boolean;
  readonly network: Network;
}

/** Moves an event's webhook to another host before each batch. */
function movingHosts({ dynamo, outputs }: DeliveryTestbed, event: EventName, makeBatch: MakeBatch): MakeBatch {
  let moved = 0;
  return async () => {
    const url = `https://${hostOf(moved++)}/${receivers[event as keyof typeof receivers]}`;
    await dynamo(
      new UpdateCommand({
        TableName: outputs.WebhooksTable,
        Key: webhookKey(outputs.Demo.AccountId, event),
        UpdateExpression: 'SET #url = :url',
        ExpressionAttributeNames: { '#url': 'url' },
        ExpressionAttributeValues: { ':url': url },
      }),
    );
    return makeBatch();
  };
}
