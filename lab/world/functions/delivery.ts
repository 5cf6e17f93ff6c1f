import type { FunctionDefinition, ProcessRuntime, VirtualCloud } from '@emissor/cloud/virtual';
import type { SQSEvent } from 'aws-lambda';
import { type Lane, lanes } from '../../../lambdas/delivery/lane-routing.ts';
import { makeRandom } from '../../../tools/support/random.ts';
import { consumerTimeout, deliveryEnvironment, operationsTopic, queueOf, type Stage } from '../stage.ts';
import { minute, second } from '../times.ts';

/** Returns the consumer for each lane, and the sweeper. */
export function deliveryFunctions(stage: Stage): readonly FunctionDefinition<ProcessRuntime>[] {
  return [...lanes.map(lane => consumerOf(lane, stage)), sweeperOf(stage)];
}

/** Invokes the sweeper twice in a third of the minutes, because a schedule may invoke a function twice. Call this at the start. */
export function repeatSweeps({ now, at, function: functionOf }: VirtualCloud, seed: number): void {
  const random = makeRandom(seed * 7_919);
  for (let tick = 1; tick <= 75; tick++) {
    const delay = random() * 30 * second;
    if (random() < 1 / 3) at(now() + tick * minute + delay, () => functionOf('sweep').invoke({}, () => {}));
  }
}

function consumerOf(lane: Lane, stage: Stage): FunctionDefinition<ProcessRuntime> {
  const { compositions, values, runtimeOf, telemetryOf, concurrencyOf } = stage;
  const outage = stage.outage?.lane === lane ? stage.outage : undefined;
  const name = `deliver-${lane}`;
  return {
    name,
    timeout: consumerTimeout,
    sources: [{ queue: queueOf[lane], concurrency: concurrencyOf[lane], standstill: outage }],
    start: process => {
      const telemetry = telemetryOf(name, process);
      const environment = { ...consumers, ...values, lane, queueUrl: queueOf[lane] };
      const consume = compositions.deliver(environment, runtimeOf(process), telemetry);
      return (event: SQSEvent, context: Parameters<typeof consume>[1] & { readonly awsRequestId: string }) => {
        telemetry.startInvocation(context);
        return consume(event, context);
      };
    },
  };
}

function sweeperOf(stage: Stage): FunctionDefinition<ProcessRuntime> {
  const { compositions, values, runtimeOf, telemetryOf, sweepIntervalMs = minute } = stage;
  return {
    name: 'sweep',
    timeout: 55 * second,
    schedule: { every: sweepIntervalMs },
    start: process => compositions.sweep({ ...sweeper, ...values }, runtimeOf(process), telemetryOf('sweep', process)),
  };
}

const consumers = {
  ...deliveryEnvironment,
  keyringTable: 'Keyring',
  demandsUrl: 'https://demandas.example.com',
  ownHosts: [],
  serviceVersion: '0',
};

const sweeper = {
  ...deliveryEnvironment,
  operationsTopicArn: operationsTopic,
};
