import type { FunctionDefinition, ProcessOutside } from '@emissor/virtual-cloud';
import type { SQSEvent } from 'aws-lambda';
import { type Lane, lanes } from '../../../lambdas/delivery/lane-routing.ts';
import { consumerTimeout, deliveryEnvironment, operationsTopic, queueOf, type Stage } from '../stage.ts';
import { minute, second } from '../times.ts';

/** Returns the consumers of the lanes and the sweeper. */
export function deliveryFunctions(stage: Stage): readonly FunctionDefinition<ProcessOutside>[] {
  return [...lanes.map(lane => consumerOf(lane, stage)), sweeperOf(stage)];
}

function consumerOf(lane: Lane, stage: Stage): FunctionDefinition<ProcessOutside> {
  const { compositions, values, outsideOf, telemetryOf, scalingOf } = stage;
  const standstill = stage.standstill?.lane === lane ? stage.standstill : undefined;
  const name = `deliver-${lane}`;
  return {
    name,
    timeout: consumerTimeout,
    sources: [{ queue: queueOf[lane], scaling: scalingOf[lane], standstill }],
    start: process => {
      const telemetry = telemetryOf(name, process);
      const environment = { ...consumers, ...values, lane, queueUrl: queueOf[lane] };
      const consume = compositions.deliver(environment, outsideOf(process), telemetry);
      return (event: SQSEvent, context: Parameters<typeof consume>[1] & { readonly awsRequestId: string }) => {
        telemetry.beginInvocation(context);
        return consume(event, context);
      };
    },
  };
}

function sweeperOf({ compositions, values, outsideOf, telemetryOf }: Stage): FunctionDefinition<ProcessOutside> {
  return {
    name: 'sweep',
    timeout: 55 * second,
    concurrency: 1,
    schedule: { every: minute },
    start: process => compositions.sweep({ ...sweeper, ...values }, outsideOf(process), telemetryOf('sweep', process)),
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
  eventSources: [],
  keyArns: [],
  operationsTopicArn: operationsTopic,
};
