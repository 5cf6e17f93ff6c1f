import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { slownessId } from '../../lambdas/delivery/slowness-store.ts';
import { type EventName, webhookKey } from '../../lambdas/webhooks/webhook.ts';
import { startCallCounter } from './call-counter.ts';
import { makeCaller } from './caller.ts';
import { batchesOf, batchSize, type Consumer, type MakeBatch, type Series } from './consumer.ts';
import { type DeliveryBed, host, hostOf, type Surroundings, startDeliveryBed } from './delivery-bed.ts';
import { median, rotated, type Spread, spreadOf } from './figures.ts';

/** What a consumer makes of a scenario: medians over the rounds, and the spread of all its batches' times. */
export interface Pace {
  /** Processor time per delivery in milliseconds. */
  readonly cpuMs: number;
  readonly perSecond: number;
  /** From a batch's being handed over to its being acknowledged. */
  readonly times: Spread;
}

/** One scenario: our consumer beside the plain one. */
export interface DeliveryRow {
  readonly what: string;
  readonly ours: Pace;
  readonly plain: Pace;
  /** Medians of the ratios of neighbouring rounds: they hold when the machine's speed drifts. */
  readonly cpuRatio: number;
  readonly speedRatio: number;
}

/** What a receiver that never answers does to one consumer process. */
export interface HangingFigures {
  /** Until the first batch is over, in milliseconds: all of its attempts have timed out. */
  readonly firstBatchMs: number;
  /** From then until the webhook's events were left to the slow lane, in milliseconds from the batch's beginning. */
  readonly movedAfterMs: number;
  /** Per attempt that times out. */
  readonly cpuMs: number;
  /** Its events after that: none is attempted here. */
  readonly moved: Pace;
  /** From then on: batches of healthy events, and the same with two of the hanging webhook's among them. */
  readonly alone: Pace;
  readonly beside: Pace;
}

/** All that is measured of delivery. */
export interface DeliveryFigures {
  readonly rows: readonly DeliveryRow[];
  readonly hanging: HangingFigures;
  /** DynamoDB calls per successful first attempt, by operation. */
  readonly calls: readonly { readonly operation: string; readonly perDelivery: number }[];
}

/** How much is measured, in batches of ten; of batches of one there are four times as many. */
export interface DeliverySize {
  readonly rounds: number;
  /** In a row to our consumer, and to the plain one. */
  readonly batches: number;
  /** Before anything is measured, so that both consumers' code is compiled. */
  readonly warmUp: number;
}

interface Scenario {
  readonly what: string;
  readonly event: EventName;
  readonly messages: number;
  readonly hostEach?: boolean;
  readonly surroundings: Surroundings;
}

const quickEvent: EventName = 'demanda.criada';
const slowEvent: EventName = 'demanda.cancelada';
const scatteredEvent: EventName = 'proposta.recebida';
const hangingEvent: EventName = 'demanda.finalizada';

/** Where each event's receiver is; after how many milliseconds it answers is its path. */
const receivers = { [quickEvent]: '2', [slowEvent]: '200', [scatteredEvent]: '2', [hangingEvent]: 'never' };

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

/** Measures what a delivery costs one consumer process, and how long it takes. */
export const measureDelivery = async (
  size: DeliverySize,
  progress: (what: string) => void,
): Promise<DeliveryFigures> => {
  const bed = await startDeliveryBed();
  try {
    const caller = makeCaller(bed.outputs);
    const { access_token: token } = await caller.login();
    for (const [evento, path] of Object.entries(receivers))
      await caller.register(token, evento, `https://${host}/${path}`);

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
    return { rows, hanging: await measureHanging(bed, size), calls };
  } finally {
    await bed.stop();
  }
};

interface Pair {
  readonly ours: Consumer;
  readonly plain: Consumer;
}

const beginPair = ({ begin }: DeliveryBed, surroundings: Surroundings): Pair => ({
  ours: begin('ours', surroundings),
  plain: begin('plain', surroundings),
});

const compare = async (
  { what, event, messages, hostEach = false }: Scenario,
  { ours, plain }: Pair,
  bed: DeliveryBed,
  size: DeliverySize,
): Promise<DeliveryRow> => {
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
};

/** Lets each do so many batches in each round, another one first each time; what opens connections again is not counted. */
const inTurn = async <Name extends string>(
  contenders: Readonly<Record<Name, (batches: number) => Promise<Series>>>,
  { rounds, batches, warmUp }: DeliverySize,
): Promise<Record<Name, Series[]>> => {
  const names = Object.keys(contenders) as Name[];
  const measured = Object.fromEntries(names.map(name => [name, [] as Series[]])) as Record<Name, Series[]>;
  for (const name of names) await contenders[name](warmUp);
  for (let round = 0; round < rounds; round++) {
    for (const name of rotated(names, round)) {
      await contenders[name](1);
      measured[name].push(await contenders[name](batches));
    }
  }
  return measured;
};

const cpuPerDelivery = ({ cpuMs, deliveries }: Series): number => cpuMs / deliveries;

const perSecond = ({ times, deliveries }: Series): number =>
  (deliveries * 1_000) / times.reduce((sum, time) => sum + time, 0);

const paceOf = (rounds: readonly Series[]): Pace => ({
  cpuMs: median(rounds.map(cpuPerDelivery)),
  perSecond: median(rounds.map(perSecond)),
  times: spreadOf(rounds.flatMap(({ times }) => times)),
});

/** Moves an event's webhook to another host before each batch. */
const movingHosts = ({ documents, outputs }: DeliveryBed, event: EventName, makeBatch: MakeBatch): MakeBatch => {
  let moved = 0;
  return async () => {
    const url = `https://${hostOf(moved++)}/${receivers[event as keyof typeof receivers]}`;
    await documents.send(
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
};

/** DynamoDB calls per successful first attempt, by operation. */
const countCalls = async ({ begin, outputs }: DeliveryBed, batches: number): Promise<DeliveryFigures['calls']> => {
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
};

const measureHanging = async (bed: DeliveryBed, size: DeliverySize): Promise<HangingFigures> => {
  const { begin, documents, outputs } = bed;
  const consumer = begin('ours', 'stand-ins');
  const healthyEvents = Array<EventName>(batchSize - 2).fill(quickEvent);
  const healthy = batchesOf(outputs, healthyEvents);
  const mixed = batchesOf(outputs, [...healthyEvents, hangingEvent, hangingEvent]);
  const hangingOnly = batchesOf(outputs, Array<EventName>(batchSize).fill(hangingEvent));
  await consumer.consume(size.warmUp, healthy);

  const startedAt = Date.now();
  const first = await consumer.consume(1, hangingOnly);
  const firstBatchMs = Date.now() - startedAt;
  const Key = { id: slownessId({ accountId: outputs.Demo.AccountId, evento: hangingEvent }) };
  const { Item } = await documents.send(new GetCommand({ TableName: outputs.DeliveriesTable, Key }));

  const moved = await consumer.consume(size.batches, hangingOnly);
  const { alone, beside } = await inTurn(
    { alone: counts => consumer.consume(counts, healthy), beside: counts => consumer.consume(counts, mixed) },
    { ...size, warmUp: 1 },
  );
  return {
    firstBatchMs,
    movedAfterMs: Number(Item?.slowSince) - startedAt,
    cpuMs: cpuPerDelivery(first),
    moved: paceOf([moved]),
    alone: paceOf(alone),
    beside: paceOf(beside),
  };
};
