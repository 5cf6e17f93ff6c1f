import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type EventName, webhookKey } from '../../lambdas/webhooks/webhook.ts';
import { median } from '../support/statistics.ts';
import { startCallCounter } from './call-counter.ts';
import { makeCaller } from './caller.ts';
import { batchesOf, batchSize, type Consumer, type MakeBatch } from './consumer.ts';
import { type DeliveryBed, host, hostOf, type Surroundings, startDeliveryBed } from './delivery-bed.ts';
import { type HangingFigures, measureHanging } from './hanging.ts';
import { cpuPerDelivery, type DeliverySize, inTurn, type Pace, paceOf, perSecond } from './pace.ts';

/** One scenario: our consumer beside the plain one. */
export interface DeliveryRow {
  readonly what: string;
  readonly ours: Pace;
  readonly plain: Pace;
  /** Medians of the ratios of neighbouring rounds: they hold when the machine's speed drifts. */
  readonly cpuRatio: number;
  readonly speedRatio: number;
}

/** All that is measured of delivery. */
export interface DeliveryFigures {
  readonly rows: readonly DeliveryRow[];
  readonly hanging: HangingFigures;
  /** DynamoDB calls per successful first attempt, by operation. */
  readonly calls: readonly { readonly operation: string; readonly perDelivery: number }[];
}

/** Measures what a delivery costs one consumer process, and how long it takes. */
export async function measureDelivery(size: DeliverySize, progress: (what: string) => void): Promise<DeliveryFigures> {
  const bed = await startDeliveryBed();
  try {
    const caller = makeCaller(bed.outputs);
    const { access_token: token } = await caller.login();
    for (const [eventName, path] of Object.entries(receivers))
      await caller.register(token, eventName, `https://${host}/${path}`);

    const pairs = new Map<Surroundings, Pair>();
    const rows: DeliveryRow[] = [];
    for (const scenario of scenarios) {
      progress(scenario.what);
      const { surroundings } = scenario;
      const pair = pairs.get(surroundings) ?? beginPair(bed, surroundings);
      pairs.set(surroundings, pair);
      rows.push(await compare(scenario, pair, bed, size));
      const expected = [...pairs.values()].reduce(
        (sum, { ours, plain }) => sum + ours.handedOver() + plain.handedOver(),
        0,
      );
      const received = await bed.received();
      if (received !== expected)
        throw new Error(`${scenario.what}: ${received} requests came, not ${expected} by now.`);
    }
    progress('calls');
    const calls = await countCalls(bed, size.batches);
    progress('beside a receiver that hangs');
    return { rows, hanging: await measureHanging(bed, { quickEvent, hangingEvent }, size), calls };
  } finally {
    await bed.stop();
  }
}

const quickEvent: EventName = 'demanda.criada';
const slowEvent: EventName = 'demanda.cancelada';
const scatteredEvent: EventName = 'proposta.recebida';
const hangingEvent: EventName = 'demanda.finalizada';

/** Where each event's receiver is; after how many milliseconds it answers is its path. */
const receivers = { [quickEvent]: '2', [slowEvent]: '200', [scatteredEvent]: '2', [hangingEvent]: 'never' };

interface Pair {
  readonly ours: Consumer;
  readonly plain: Consumer;
}

const standIns = { surroundings: 'stand-ins' } as const;

const scenarios: readonly Scenario[] = [
  { what: 'batches of 10', event: quickEvent, messages: batchSize, ...standIns },
  { what: 'batches of 10, answered after 200 ms', event: slowEvent, messages: batchSize, ...standIns },
  { what: 'message by message', event: quickEvent, messages: 1, ...standIns },
  { what: 'message by message, a host each', event: scatteredEvent, messages: 1, hostEach: true, ...standIns },
  {
    what: 'batches of 10, real DNS, TLS to the store',
    event: quickEvent,
    messages: batchSize,
    surroundings: 'real DNS and TLS',
  },
];

function beginPair({ begin }: DeliveryBed, surroundings: Surroundings): Pair {
  return {
    ours: begin('ours', surroundings),
    plain: begin('plain', surroundings),
  };
}

async function compare(
  { what, event, messages, hostEach = false }: Scenario,
  { ours, plain }: Pair,
  bed: DeliveryBed,
  size: DeliverySize,
): Promise<DeliveryRow> {
  const makeBatch = batchesOf(bed.outputs, Array<EventName>(messages).fill(event));
  const next = hostEach ? movingHosts(bed, event, makeBatch) : makeBatch;
  const { ours: ourRounds, plain: plainRounds } = await inTurn(
    { ours: counts => ours.consume(counts, next), plain: counts => plain.consume(counts, next) },
    messages === 1 ? { ...size, batches: size.batches * 4, warmUp: size.warmUp * 4 } : size,
  );
  const ratios = ourRounds.map((round, at) => {
    const other = plainRounds[at] ?? round;
    return { cpu: cpuPerDelivery(round) / cpuPerDelivery(other), speed: perSecond(round) / perSecond(other) };
  });
  return {
    what,
    ours: paceOf(ourRounds),
    plain: paceOf(plainRounds),
    cpuRatio: median(ratios.map(({ cpu }) => cpu)),
    speedRatio: median(ratios.map(({ speed }) => speed)),
  };
}

/** DynamoDB calls per successful first attempt, by operation. */
async function countCalls({ begin, outputs }: DeliveryBed, batches: number): Promise<DeliveryFigures['calls']> {
  const counter = await startCallCounter(outputs.DynamoDbEndpoint);
  try {
    const counted = begin('ours', 'stand-ins', counter.endpoint);
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
  readonly surroundings: Surroundings;
}

/** Moves an event's webhook to another host before each batch. */
function movingHosts({ dynamo, outputs }: DeliveryBed, event: EventName, makeBatch: MakeBatch): MakeBatch {
  let moved = 0;
  return async () => {
    const url = `https://${hostOf(moved++)}/${receivers[event as keyof typeof receivers]}`;
    await dynamo.send(
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
