import * as z from 'zod';
import { functionNameIn } from '../assembly/identities.ts';
import { type LiveResource, readProperties } from '../assembly/resources.ts';

/** An event source mapping of the template: a queue and the function that gets its messages. */
export interface EventSourceMapping {
  readonly queueArn: string;
  readonly functionName: string;
  readonly batchSize: number;
  readonly reportsItemFailures: boolean;
  /** Batches that may be processed at once. */
  readonly concurrency: number;
}

/** Reads an event source mapping of the template. @throws {StartError} */
export function eventSourceOf(resource: LiveResource): EventSourceMapping {
  const properties = readProperties(mappingSchema, resource);
  return {
    queueArn: properties.EventSourceArn,
    functionName: functionNameIn(properties.FunctionName) ?? properties.FunctionName.replace(/:.*/, ''), // `name:alias`
    batchSize: properties.BatchSize,
    reportsItemFailures: properties.FunctionResponseTypes.length > 0,
    concurrency: properties.ScalingConfig?.MaximumConcurrency ?? Number.POSITIVE_INFINITY,
  };
}

const mappingSchema = z.object({
  EventSourceArn: z.string().startsWith('arn:aws:sqs:', 'only SQS queues are event sources locally'),
  FunctionName: z.string(),
  Enabled: z.literal(true, 'a disabled event source is not supported locally').default(true),
  BatchSize: z.number().int().min(1).max(10, 'batches of over 10 messages are not supported locally').default(10),
  MaximumBatchingWindowInSeconds: z.literal(0, 'batching windows are not supported locally').default(0),
  FunctionResponseTypes: z.array(z.literal('ReportBatchItemFailures')).default([]),
  ScalingConfig: z.object({ MaximumConcurrency: z.number().int().min(2) }).optional(),
  FilterCriteria: z.undefined('message filters are not supported locally').optional(),
});
