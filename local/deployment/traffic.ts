import { SQSClient } from '@aws-sdk/client-sqs';
import { region } from '../assembly/identities.ts';
import { ofType } from '../assembly/resources.ts';
import { eventSourceOf, scheduleOf } from '../event-sources/definition.ts';
import { startQueueSource } from '../event-sources/queue-source.ts';
import { startSchedule } from '../event-sources/schedule.ts';
import type { Faults } from '../faults.ts';
import { apisOf } from '../http-api/definition.ts';
import { makeGateway } from '../http-api/gateway.ts';
import { makeRouteTable } from '../http-api/routes.ts';
import type { HttpFront } from '../http-api/server.ts';
import { makeThrottle } from '../http-api/throttle.ts';
import type { Services } from '../services.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Blueprint } from './blueprint.ts';
import { type Functions, functionNamed, localCredentials } from './provision.ts';

/** What lets the world in. */
export interface TrafficDependencies {
  readonly blueprint: Blueprint;
  readonly functions: Functions;
  readonly services: Services;
  readonly fronts: readonly HttpFront[];
  readonly terminal: Terminal;
  readonly faults: Faults;
}

/** Requests, messages and schedules on their way to functions. */
export interface Traffic {
  /** Lets nothing more in; resolves when what is under way has ended. */
  stop(): Promise<void>;
}

/** Opens the APIs, polls the queues and starts the schedules. @throws {LocalFault} */
export function startTraffic(dependencies: TrafficDependencies): Traffic {
  const stopSchedules = startSchedules(dependencies);
  const stopSources = startSources(dependencies);
  openApis(dependencies);
  return {
    stop: async () => {
      for (const front of dependencies.fronts) front.close();
      for (const stopSchedule of stopSchedules) stopSchedule();
      await stopSources();
      await Promise.all([...dependencies.functions.values()].map(({ drain }) => drain()));
    },
  };
}

function startSchedules({ blueprint, functions }: TrafficDependencies): readonly (() => void)[] {
  return ofType(blueprint.resources, 'AWS::Events::Rule').flatMap(resource => {
    const schedule = scheduleOf(resource, blueprint.attributeOf(resource, 'Arn'));
    return (schedule?.targets ?? []).map(({ functionName, input }) =>
      startSchedule({
        ruleArn: schedule?.ruleArn ?? '',
        period: schedule?.period ?? 0,
        invoke: functionNamed(functions, functionName).invoke,
        ...(input === undefined ? {} : { input }),
      }),
    );
  });
}

function startSources({ blueprint, functions, services, faults }: TrafficDependencies) {
  const client = new SQSClient({ region, endpoint: services.sqs.endpoint, credentials: localCredentials });
  const sources = ofType(blueprint.resources, 'AWS::Lambda::EventSourceMapping').map(resource => {
    const source = eventSourceOf(resource);
    const { invoke, concurrency } = functionNamed(functions, source.functionName);
    return startQueueSource(
      { ...source, concurrency: Math.min(source.concurrency, concurrency) }, // more would wait here and grow stale
      {
        client,
        invoke,
        queueUrl: services.sqs.urlOf(source.queueArn.split(':').at(-1) ?? ''),
        repeats: () => faults.strikes('repeatedBatches'),
      },
    );
  });
  return async () => {
    await Promise.all(sources.map(source => source.stop()));
    client.destroy();
  };
}

function openApis({ blueprint, functions, fronts, terminal }: TrafficDependencies): void {
  for (const api of apisOf(blueprint.resources, resource => blueprint.attributeOf(resource, 'Ref'))) {
    const port = blueprint.apiPorts.get(api.apiId);
    const routes = api.routes.map(({ routeKey, functionName, timeoutMilliseconds }) => ({
      routeKey,
      target: { invoke: functionNamed(functions, functionName).invoke, timeoutMilliseconds },
    }));
    const gateway = makeGateway({
      address: { apiId: api.apiId, host: `127.0.0.1:${port}` },
      findRoute: makeRouteTable(routes),
      throttle: makeThrottle(api.throttle, () => performance.now()),
      onAnswered: (method, path, status, milliseconds) =>
        terminal.note('gateway', `${method} ${path}  ${status}  ${milliseconds} ms`, 'debug'),
    });
    fronts.find(front => front.port === port)?.open(gateway);
  }
}
