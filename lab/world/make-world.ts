import { makeVirtualCloud, type ProcessOutside, standardScaling } from '@emissor/virtual-cloud';
import { makeTables } from '@emissor/virtual-cloud/dynamodb/tables';
import { guardGlobals } from '@emissor/virtual-cloud/guarded-globals';
import type { SQSEvent } from 'aws-lambda';
import { type Lane, lanes } from '../../lambdas/delivery/lane-routing.ts';
import { composeSweep } from '../../lambdas/delivery/sweeper/sweep.composition.ts';
import { composeDeliver } from '../../lambdas/delivery/worker/deliver.composition.ts';
import { makeRandom } from '../../tools/support/random.ts';
import { tableDefinition, tableNames } from '../../tools/support/tables.ts';
import { makeAccounts, makeArrival } from './arrival.ts';
import { type FaultClass, faultsOf } from './fault-classes.ts';
import { makeWorldOutside, makeWorldTelemetry } from './process-outside.ts';
import { makeReceivers } from './receivers.ts';
import { makeSetUp } from './set-up.ts';
import { minute, second } from './times.ts';

/** The compositions that a world runs. A test gives others to see that their fault is found. */
export interface Compositions {
  readonly deliver: typeof composeDeliver;
  readonly sweep: typeof composeSweep;
}

/** A world, and what may be looked at in it. */
export type World = ReturnType<typeof makeWorld>;

/**
 * Makes the delivery of a stage in virtual time, by the product's own functions, with accounts, receivers and events by the seed.
 * The globals of this program are guarded until `end`: only one world may live at a time.
 */
export function makeWorld(
  seed: number,
  faultClass: FaultClass,
  { deliver, sweep }: Compositions = { deliver: composeDeliver, sweep: composeSweep },
) {
  const lag = makeRandom(seed * 31);
  const tables = makeTables({
    definitions: tableNames().map(name => ({ TableName: name, ...tableDefinition(name) })),
    now: () => cloud.now(),
    indexLag: () => lag() * 300,
    translate,
  });
  const isFine = new Set(['set-up']);
  const cloud = makeVirtualCloud({
    seed,
    tables: () => tables,
    queues: [
      ...Object.values(queueOf).map(name => ({ name, visibilityTimeout, deadLetters })),
      { name: deadLetters.queue },
    ],
    functions: [
      ...lanes.map(consumerOf),
      {
        name: 'sweep',
        timeout: 55 * second,
        concurrency: 1,
        schedule: { every: minute },
        start: process => sweep(sweeper, makeWorldOutside(process, receivers), makeWorldTelemetry('sweep', process)),
      },
      { name: 'set-up', timeout: minute, start: process => makeSetUp(makeWorldOutside(process, receivers), accounts) },
    ],
    faults: { ...faultsOf(faultClass), fateOf: ({ functionName }) => (isFine.has(functionName) ? 'fine' : undefined) },
  });
  const receivers = makeReceivers(seed, cloud.now);
  const accounts = makeAccounts();
  const publications = makeArrival(seed, accounts);
  const end = guardGlobals({
    current: cloud.currentProcess,
    isOwn: file => file.includes('/lambdas/'),
    writeLog: cloud.writeLog,
  });
  for (const { host, kind } of accounts) if (kind !== undefined) receivers.add(host, kind);
  return { cloud, tables, receivers, publications, faultClass, begin, end };

  /** Fills the tables, and plans the events. Returns the moment of the beginning. */
  async function begin(): Promise<number> {
    const { status } = await cloud.invoke('set-up', {});
    if (status !== 'answered') throw new Error(`The world could not be set up: ${status}.`);
    const began = cloud.now();
    for (const { at, account, body } of publications) {
      cloud.at(began + at, () => cloud.send(queueOf.first, { body, group: account }));
    }
    return began;
  }

  function consumerOf(lane: Lane) {
    const name = `deliver-${lane}`;
    return {
      name,
      timeout: consumerTimeout,
      sources: [{ queue: queueOf[lane], scaling: standardScaling(10) }],
      start: (process: ProcessOutside) => {
        const telemetry = makeWorldTelemetry(name, process);
        const environment = { ...consumers, LANE: lane, QUEUE_URL: queueOf[lane] };
        const consume = deliver(environment, makeWorldOutside(process, receivers), telemetry);
        return (event: SQSEvent, context: Parameters<typeof consume>[1] & { readonly awsRequestId: string }) => {
          telemetry.beginInvocation(context);
          return consume(event, context);
        };
      },
    };
  }
}

/** The queues of the lanes: their names are their URLs. */
export const queueOf: Readonly<Record<Lane, string>> = { first: 'events', retry: 'retries', slow: 'slow' };

/** The queue of what nobody could process. */
export const deadLetters = { queue: 'dead-letters', maxReceiveCount: 100 };

/** As `makeDocumentClient` sets it. */
const translate = { marshallOptions: { removeUndefinedValues: true }, unmarshallOptions: { wrapNumbers: Number } };

/** The times of the consumers and of what they received, as `lib/delivery-lanes.ts` and `lib/constructs/work-queue.ts` have them. */
const consumerTimeout = 45 * second;
const visibilityTimeout = 6 * 45;

const shared = {
  WEBHOOKS_TABLE: 'Webhooks',
  DELIVERIES_TABLE: 'Deliveries',
  RETRY_QUEUE_URL: queueOf.retry,
  SLOW_QUEUE_URL: queueOf.slow,
  DEAD_LETTER_QUEUE_URL: deadLetters.queue,
  REFUSED_EVENTS_TOPIC_ARN: 'arn:aws:sns:sa-east-1:111122223333:refused',
  SLOW_RATE: 20,
  HISTORY_DAYS: 30,
};

/** The last wait is longer than a queue can hold a message back. */
const consumers = {
  ...shared,
  KEYRING_TABLE: 'Keyring',
  DEMANDS_URL: 'https://demandas.example.com',
  RETRY_SCHEDULE: [5 * second, 20 * second, minute, 1_000 * second],
  ATTEMPT_TIMEOUT_MS: 15 * second,
  GIVE_UP: 'waiting' as const,
  OWN_HOSTS: [],
  SERVICE_VERSION: '0',
};

const sweeper = {
  ...shared,
  EVENT_SOURCES: [],
  OPERATIONS_TOPIC_ARN: 'arn:aws:sns:sa-east-1:111122223333:operations',
};
