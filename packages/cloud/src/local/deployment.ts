import * as z from 'zod';
import { realTime } from '../real-time.ts';
import { functionNameIn } from './assembly/identities.ts';
import { type LiveResource, ofType, type ResolvedTemplate, readProperties } from './assembly/resources.ts';
import { tableOf } from './dynamodb.ts';
import { StartError } from './errors.ts';
import { eventSourceOf, startQueueSource } from './event-sources/queue-source.ts';
import { scheduleOf } from './event-sources/schedule.ts';
import { makeRouteTable, makeThrottle, routesOf } from './http-api/routes.ts';
import { type HttpServer, makeGateway } from './http-api/server.ts';
import { functionOf } from './lambda/definition.ts';
import { type FunctionHost, type LocalFunction, makeLocalFunction, makeStartLock } from './lambda/function.ts';
import type { Services } from './services.ts';
import { queueOf } from './sqs.ts';
import type { Terminal } from './terminal.ts';

/** Creates keys, queues and tables, unless an earlier run stored them. @throws {StartError} */
export function provisionState({ resources }: ResolvedTemplate, services: Services): void {
  for (const { name } of ofType(resources, 'AWS::KMS::Key')) services.kms.ensureKey(name);
  for (const queue of ofType(resources, 'AWS::SQS::Queue')) services.sqs.ensureQueue(queueOf(queue));
  for (const table of ofType(resources, 'AWS::DynamoDB::GlobalTable')) services.dynamoDb.ensureTable(tableOf(table));
}

/** The functions of the template, by name. */
export type Functions = ReadonlyMap<string, LocalFunction>;

/**
 * Creates the functions. Their processes start on demand. A function with an event source has the concurrency of that source.
 *
 * @throws {StartError}
 */
export function provisionFunctions(
  { resources, assets }: ResolvedTemplate,
  host: Omit<FunctionHost, 'startLock'>,
): Functions {
  const startLock = makeStartLock();
  const sources = ofType(resources, 'AWS::Lambda::EventSourceMapping').map(eventSourceOf);
  const functions = ofType(resources, 'AWS::Lambda::Function').map(resource => {
    const concurrency = sources.find(({ functionName }) => functionName === resource.name)?.concurrency;
    return makeLocalFunction(functionOf(resource, assets), { ...host, startLock }, concurrency);
  });
  return new Map(functions.map(one => [one.definition.name, one]));
}

/**
 * Invokes the functions that run during a deployment (the CDK's `Trigger`), in stack order. It does not use the CDK's
 * provider function.
 *
 * @throws {StartError} if a function fails
 */
export async function runDeploymentTriggers(resources: readonly LiveResource[], functions: Functions): Promise<void> {
  for (const trigger of ofType(resources, 'Custom::Trigger')) {
    const { HandlerArn } = readProperties(triggerSchema, trigger);
    const { definition, invoke } = functionNamed(functions, functionNameIn(HandlerArn));
    const result = await invoke('{}');
    if (result.outcome === 'failed') {
      throw new StartError(`The deployment trigger ${definition.label} failed: ${result.error.errorMessage}`);
    }
  }
}

/**
 * Starts serving requests, polling queues and running schedules.
 *
 * @param servers - the servers of the APIs, by API id
 * @returns a function that stops all triggers and waits for running invocations
 * @throws {StartError}
 */
export function startTriggers(
  { resources }: ResolvedTemplate,
  functions: Functions,
  servers: ReadonlyMap<string, HttpServer>,
  services: Services,
  terminal: Terminal,
): () => Promise<void> {
  const timers = ofType(resources, 'AWS::Events::Rule').map(resource => {
    const { functionName, period } = scheduleOf(resource);
    const { invoke } = functionNamed(functions, functionName);
    return setInterval(() => void invoke('{}'), period); // no function reads the event
  });
  const stopSources = ofType(resources, 'AWS::Lambda::EventSourceMapping').map(resource => {
    const { functionName, queueArn, ...source } = eventSourceOf(resource);
    const { invoke } = functionNamed(functions, functionName);
    return startQueueSource({ ...source, queue: services.sqs.find(queueArn), time: realTime, invoke });
  });
  const targets = routesOf(resources).map(({ functionName, throttle, ...route }) => ({
    ...route,
    invoke: functionNamed(functions, functionName).invoke,
    throttle: makeThrottle(throttle, () => performance.now()),
  }));
  for (const [api, server] of servers) {
    const gateway = makeGateway(makeRouteTable(targets.filter(({ apiId }) => apiId === api)));
    server.open(async request => {
      const startedAt = performance.now();
      const response = await gateway(request);
      const milliseconds = Math.round(performance.now() - startedAt);
      const requestLine = `${request.message.method} ${request.path}`; // without the query, which may contain secrets
      terminal.note('gateway', `${requestLine}  ${response.status}  ${milliseconds} ms`, 'debug');
      return response;
    });
  }
  return async function stop() {
    for (const server of servers.values()) server.close();
    for (const timer of timers) clearInterval(timer);
    await Promise.all(stopSources.map(stopSource => stopSource()));
    await Promise.all([...functions.values()].map(({ drain }) => drain()));
  };
}

const triggerSchema = z.object({ HandlerArn: z.string() });

function functionNamed(functions: Functions, name = ''): LocalFunction {
  const target = functions.get(name);
  if (!target) throw new StartError(`The template refers to the function "${name}", which does not exist.`);
  return target;
}
