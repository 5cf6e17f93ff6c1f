import { realTime } from '../../real-time.ts';
import { ofType } from '../assembly/resources.ts';
import { eventSourceOf } from '../event-sources/mapping.ts';
import { startQueueSource } from '../event-sources/queue-source.ts';
import { scheduleOf, startSchedule } from '../event-sources/schedule.ts';
import { accessLine, readAccessLogs } from '../http-api/access-log.ts';
import { makeGateway } from '../http-api/gateway.ts';
import { apisOf, makeRouteTable } from '../http-api/routes.ts';
import type { HttpServer } from '../http-api/server.ts';
import { makeThrottle } from '../http-api/throttle.ts';
import type { QueueService } from '../sqs.ts';
import type { Terminal } from '../terminal.ts';
import { type Functions, functionNamed } from './provision.ts';
import type { ResolvedTemplate } from './resolved-template.ts';

/**
 * Opens the APIs, polls the queues and starts the schedules: all that invokes functions.
 *
 * @returns what stops them: they accept nothing more, and all running invocations end.
 * @throws {StartError}
 */
export function startTriggers(context: TriggerContext): () => Promise<void> {
  const stopSchedules = startSchedules(context);
  const stopSources = startSources(context);
  openApis(context);
  return async function stop() {
    for (const server of context.servers) server.close();
    for (const stopSchedule of stopSchedules) stopSchedule();
    await stopSources();
    await Promise.all([...context.functions.values()].map(({ drain }) => drain()));
  };
}

interface TriggerContext {
  readonly template: ResolvedTemplate;
  readonly functions: Functions;
  readonly sqs: QueueService;
  readonly servers: readonly HttpServer[];
  readonly terminal: Terminal;
  /** Writes a line of a log group. */
  readonly writeLog: (group: string, line: string) => void;
}

function startSchedules({ template, functions }: TriggerContext): readonly (() => void)[] {
  return ofType(template.resources, 'AWS::Events::Rule').flatMap(resource => {
    const schedule = scheduleOf(resource, template.attributeOf(resource, 'Arn'));
    if (!schedule) return [];
    return schedule.targets.map(({ functionName, input }) =>
      startSchedule({ ...schedule, input, invoke: functionNamed(functions, functionName).invoke }),
    );
  });
}

function startSources({ template, functions, sqs }: TriggerContext) {
  const sources = ofType(template.resources, 'AWS::Lambda::EventSourceMapping').map(resource => {
    const source = eventSourceOf(resource);
    const { invoke, concurrency } = functionNamed(functions, source.functionName);
    return startQueueSource(
      { ...source, concurrency: Math.min(source.concurrency, concurrency) }, // more batches would only wait here
      { queue: sqs.find(source.queueArn), time: realTime, invoke },
    );
  });
  return () => Promise.all(sources.map(stop => stop()));
}

function openApis({ template, functions, servers, terminal, writeLog }: TriggerContext): void {
  const accessLogs = readAccessLogs(template.resources);
  for (const api of apisOf(template.resources, resource => template.attributeOf(resource, 'Ref'))) {
    const port = template.apiPorts.get(api.apiId);
    const routes = api.routes.map(({ routeKey, functionName, timeoutMilliseconds, throttle }) => ({
      routeKey,
      target: {
        invoke: functionNamed(functions, functionName).invoke,
        timeoutMilliseconds,
        throttle: makeThrottle(throttle, () => performance.now()),
      },
    }));
    const gateway = makeGateway({
      address: { apiId: api.apiId, host: `127.0.0.1:${port}` },
      findRoute: makeRouteTable(routes),
      onAnswered: answered => {
        const { request, response, milliseconds } = answered;
        // The path, and never the query, which may hold secrets.
        terminal.note('gateway', `${request.method} ${request.path}  ${response.status}  ${milliseconds} ms`, 'debug');
        const accessLog = accessLogs.get(api.apiId);
        if (accessLog) writeLog(accessLog.group, accessLine(accessLog.format, answered));
      },
    });
    servers.find(server => server.port === port)?.open(gateway);
  }
}
