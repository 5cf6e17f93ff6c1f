import * as z from 'zod';
import { functionNameIn } from '../assembly/identities.ts';
import { type LiveResource, readProperties } from '../assembly/resources.ts';
import { StartError } from '../errors.ts';
import type { QueueSourceDefinition } from './queue-source.ts';

/** An event source mapping and the function it feeds. */
export interface EventSourceDefinition extends QueueSourceDefinition {
  readonly functionName: string;
}

/** Reads an event source mapping of the template. @throws {StartError} */
export function eventSourceOf(resource: LiveResource): EventSourceDefinition {
  const properties = readProperties(mappingSchema, resource);
  if (properties.BatchSize > 10 && properties.MaximumBatchingWindowInSeconds < 1) {
    const place = `${resource.stack}/${resource.logicalId}`;
    throw new StartError(`${place}: a batch of over 10 messages needs a window of at least 1 s, on AWS too.`);
  }
  return {
    queueArn: properties.EventSourceArn,
    functionName: functionNameIn(properties.FunctionName) ?? properties.FunctionName,
    batchSize: properties.BatchSize,
    batchingWindow: properties.MaximumBatchingWindowInSeconds,
    reportsItemFailures: properties.FunctionResponseTypes.length > 0,
    concurrency: placesOf(properties),
  };
}

/** A rule that runs functions at a fixed rate. */
export interface ScheduleDefinition {
  readonly ruleArn: string;
  /** Milliseconds. */
  readonly period: number;
  readonly targets: readonly { readonly functionName: string; readonly input?: string }[];
}

/** Milliseconds of `rate(5 minutes)`; `undefined` for anything else. */
export function periodOf(expression: string): number | undefined {
  const [, count, unit] = /^rate\(([1-9]\d*) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const milliseconds = unitMilliseconds[unit ?? ''];
  return milliseconds === undefined ? undefined : Number(count) * milliseconds;
}

/** Reads a schedule of the template; `undefined` when it is switched off. @throws {StartError} */
export function scheduleOf(resource: LiveResource, ruleArn: string): ScheduleDefinition | undefined {
  const { State, ScheduleExpression, Targets } = readProperties(ruleSchema, resource);
  if (State === 'DISABLED') return undefined;
  const place = `${resource.stack}/${resource.logicalId}`;
  const period = periodOf(ScheduleExpression);
  if (period === undefined)
    throw new StartError(`${place}: locally only rate(…) schedules run, not ${ScheduleExpression}.`);
  const targets = Targets.map(({ Arn, Input }) => {
    const functionName = functionNameIn(Arn);
    if (!functionName) throw new StartError(`${place}: locally schedules run functions only, not ${Arn}.`);
    return { functionName, ...(Input === undefined ? {} : { input: Input }) };
  });
  return { ruleArn, period, targets };
}

/** The function that a trigger runs when the stacks are deployed. @throws {StartError} */
export function triggeredFunctionOf(resource: LiveResource): string {
  const name = functionNameIn(readProperties(triggerSchema, resource).HandlerArn);
  if (name) return name;
  throw new StartError(`${resource.stack}/${resource.logicalId} triggers no function.`);
}

const mappingSchema = z.object({
  EventSourceArn: z.string().startsWith('arn:aws:sqs:', 'only SQS queues are event sources locally'),
  FunctionName: z.string(),
  Enabled: z.literal(true, 'a disabled event source is of no use locally').default(true),
  BatchSize: z.number().int().min(1).max(10_000).default(10),
  MaximumBatchingWindowInSeconds: z.number().int().min(0).max(300).default(0),
  FunctionResponseTypes: z.array(z.literal('ReportBatchItemFailures')).default([]),
  ScalingConfig: z.object({ MaximumConcurrency: z.number().int().min(2) }).optional(),
  ProvisionedPollerConfig: z.object({ MaximumPollers: z.number().int().min(2) }).optional(),
  FilterCriteria: z.undefined('message filters are not known locally').optional(),
});

function placesOf({ ScalingConfig, ProvisionedPollerConfig }: z.output<typeof mappingSchema>): number {
  if (ScalingConfig) return ScalingConfig.MaximumConcurrency;
  if (ProvisionedPollerConfig) return ProvisionedPollerConfig.MaximumPollers * batchesPerPoller;
  return Number.POSITIVE_INFINITY;
}

/** Batches at once that one provisioned poller feeds. */
const batchesPerPoller = 10;

const unitMilliseconds: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

const ruleSchema = z.object({
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  ScheduleExpression: z.string(),
  Targets: z.array(z.object({ Arn: z.string(), Input: z.string().optional() })).default([]),
});

const triggerSchema = z.object({ HandlerArn: z.string() });
