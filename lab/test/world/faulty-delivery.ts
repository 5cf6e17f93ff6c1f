import { SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { composeDeliveriesApi } from '../../../lambdas/base-api/deliveries-api.composition.ts';
import { composeWebhooksApi } from '../../../lambdas/base-api/webhooks-api.composition.ts';
import { composeDeliver } from '../../../lambdas/delivery/consumer/deliver.composition.ts';
import { composeSweep } from '../../../lambdas/delivery/sweeper/sweep.composition.ts';
import type { Dynamo, Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { HttpRequest, HttpResponse } from '../../../lambdas/platform/http.ts';
import type { Runtime } from '../../../lambdas/platform/runtime.ts';
import type { Compositions } from '../../world/stage.ts';

/** Returns a product that omits some metrics. */
export function withoutMetrics(
  omitted: readonly string[],
  { deliver = composeDeliver }: Partial<Compositions>,
): Partial<Compositions> {
  return {
    deliver: (environment, runtime, telemetry) => {
      const count: typeof telemetry.count = (metric, by) => {
        if (!omitted.includes(metric)) telemetry.count(metric, by);
      };
      return deliver(environment, runtime, { ...telemetry, count });
    },
  };
}

/** Returns a sweeper that throws at the end of each sweep. */
export function failingAfter(sweep: ReturnType<typeof composeSweep>): ReturnType<typeof composeSweep> {
  return async (...args) => {
    await sweep(...args);
    throw new Error('The sweep fails.');
  };
}

/** Returns consumers with a changed runtime. Each change receives the result of the previous change. */
export function consumersWith(...changes: readonly ChangeRuntime[]): Partial<Compositions> {
  return {
    deliver: (environment, runtime, telemetry) => {
      let changed = runtime;
      for (const change of changes) changed = { ...changed, ...change(changed) };
      return composeDeliver(environment, changed, telemetry);
    },
  };
}

type ConsumerRuntime = Parameters<typeof composeDeliver>[1];
type ChangeRuntime = (runtime: ConsumerRuntime) => Partial<ConsumerRuntime>;

/** Returns a runtime that treats refused connections as internal errors. */
export function reportingInternalErrors({ post }: ConsumerRuntime): Pick<ConsumerRuntime, 'post'> {
  return {
    post: async request => {
      const result = await post(request);
      const isRefused = result.outcome === 'failed' && result.cause === 'refused';
      return isRefused ? { ...result, kind: 'internal_error' } : result;
    },
  };
}

/** Returns a runtime that drops all response headers. */
export function withoutHeaders({ post }: ConsumerRuntime): Pick<ConsumerRuntime, 'post'> {
  return { post: async request => ({ ...(await post(request)), headers: {} }) };
}

/** Adds or replaces request headers. */
export function sending(headers: Readonly<Record<string, string>>): ChangeRuntime {
  return ({ post }) => ({ post: request => post({ ...request, headers: { ...request.headers, ...headers } }) });
}

/** Returns a DynamoDB client that alters each command before its call, and each response after it, in place. */
export function altering(dynamo: Dynamo, alter: Alter, alterResponse: AlterResponse = () => undefined): Dynamo {
  return async (command, options) => {
    await alter(command, dynamo);
    const response = await dynamo(command, options);
    alterResponse(response, command);
    return response;
  };
}

type Alter = (command: { readonly input: object }, dynamo: Dynamo) => unknown;
type AlterResponse = (response: object, command: object) => void;

/** Returns a change that alters consumers' DynamoDB commands. */
export function calling(alter: Alter, alterResponse?: AlterResponse): ChangeRuntime {
  return ({ dynamo }) => ({ dynamo: altering(dynamo, alter, alterResponse) });
}

/** Returns the sweeper and the APIs with altered DynamoDB commands. */
export function apisWith(alter: Alter): Partial<Compositions> {
  const altered = <RuntimeType extends { readonly dynamo: Dynamo }>(runtime: RuntimeType) => ({
    ...runtime,
    dynamo: altering(runtime.dynamo, alter),
  });
  return {
    sweep: (environment, runtime, telemetry) => composeSweep(environment, altered(runtime), telemetry),
    webhooksApi: (environment, runtime, telemetry) => composeWebhooksApi(environment, altered(runtime), telemetry),
    deliveriesApi: (environment, runtime, ...rest) => composeDeliveriesApi(environment, altered(runtime), ...rest),
  };
}

/** Returns a change that merges the result of `change` into each stored item. */
export function storing(change: (item: Item) => Item | undefined): ChangeRuntime {
  return calling(command => {
    if (command instanceof PutCommand) Object.assign(command.input.Item ?? {}, change(command.input.Item ?? {}));
  });
}

/** Returns a change that replaces the stored attempt records, which have the format of `packAttempt`. */
export function recording(change: (records: readonly string[]) => readonly string[]): ChangeRuntime {
  return storing(({ attempts }) => (Array.isArray(attempts) ? { attempts: change(attempts) } : undefined));
}

/** Returns a change that replaces or removes the items read by BatchGet. */
export function reading(change: (table: string, item: Item) => Item | undefined): ChangeRuntime {
  const read = (response: object, command: object) => {
    if (!(command instanceof BatchGetCommand)) return;
    const { Responses = {} }: { readonly Responses?: Readonly<Record<string, readonly Item[]>> } = response;
    const changed = Object.entries(Responses).map(([table, items]) => {
      return [table, items.map(item => change(table, item)).filter(item => item !== undefined)] as const;
    });
    Object.assign(response, { Responses: Object.fromEntries(changed) });
  };
  return calling(() => undefined, read);
}

/** Returns a sweeper with a wrapped `publish`. */
export function sweepingWith(publish: (runtime: Runtime['publish']) => Runtime['publish']): Partial<Compositions> {
  return {
    sweep: (environment, runtime, telemetry) =>
      composeSweep(environment, { ...runtime, publish: publish(runtime.publish) }, telemetry),
  };
}

/** Returns a `publish` that publishes every message twice. */
export function publishTwice(publish: Runtime['publish']): Runtime['publish'] {
  return async (topicArn, message) => {
    await publish(topicArn, message);
    await publish(topicArn, message);
  };
}

/** Returns a `publish` that drops every message. */
export function publishNothing(): Runtime['publish'] {
  return async () => undefined;
}

/** Returns APIs that respond to some requests without processing them. */
export function respondingWith(
  ...responses: readonly (readonly [method: string, path: RegExp, status: number, body: object])[]
): Partial<Compositions> {
  const respondInstead = (api: Api) => async (request: HttpRequest) => {
    const { requestContext, rawPath } = request;
    const match = responses.find(([method, path]) => requestContext.http.method === method && path.test(rawPath));
    return match ? { statusCode: match[2], body: JSON.stringify(match[3]) } : api(request);
  };
  return {
    webhooksApi: (...args) => respondInstead(composeWebhooksApi(...args)),
    deliveriesApi: (...args) => respondInstead(composeDeliveriesApi(...args)),
  };
}

/** Returns APIs that replace text in their responses. */
export function replacingInResponses(...changes: readonly (readonly [RegExp, string])[]): Partial<Compositions> {
  const withChanges = (api: Api) => async (request: HttpRequest) => {
    const response = await api(request);
    return { ...response, body: changes.reduce((body, change) => body?.replace(...change), response.body) };
  };
  return {
    webhooksApi: (...args) => withChanges(composeWebhooksApi(...args)),
    deliveriesApi: (...args) => withChanges(composeDeliveriesApi(...args)),
  };
}

type Api = (request: HttpRequest) => Promise<HttpResponse>;

/** Rounds a pending delivery's due time up to a multiple of ten minutes. */
export function roundDueTimes(command: object): void {
  if (!(command instanceof PutCommand)) return;
  const { Item: item } = command.input;
  if (item?.state !== 'pending') return;
  item.nextAttemptAt = 600_000 * Math.ceil(item.nextAttemptAt / 600_000);
}

/** Changes `undelivered` index queries so that they return no items. */
export function hideUndelivered(command: object): void {
  if (!(command instanceof QueryCommand) || command.input.IndexName !== 'undelivered') return;
  Object.assign(command.input.ExpressionAttributeValues ?? {}, { ':first': '-', ':last': '-' });
}

/** Changes conditions so that an account can end or delete an operator's suspension. */
export function ignoreOperatorSuspensions(command: object): void {
  if (!(command instanceof DeleteCommand || command instanceof UpdateCommand)) return;
  const { ConditionExpression = '', ExpressionAttributeValues: values = {} } = command.input;
  for (const [name, value] of Object.entries(values)) {
    if (value === 'operator' && ConditionExpression.includes(`<> ${name}`)) values[name] = 'nobody';
  }
}

/** Returns an operators' runtime that keeps the items with this id prefix instead of deleting them. */
export function keepingItems(prefix: string): Compositions['operators'] {
  return runtime => {
    const { dynamodb } = runtime;
    const send: typeof dynamodb.send = (command, options) => {
      if (command instanceof BatchWriteCommand) {
        for (const { DeleteRequest } of command.input.RequestItems?.Deliveries ?? []) {
          if (String(DeleteRequest?.Key?.id).startsWith(prefix))
            Object.assign(DeleteRequest?.Key ?? {}, { id: 'other' });
        }
      }
      return dynamodb.send(command, options);
    };
    return { ...runtime, dynamodb: { send } };
  };
}

/** Sends each BatchGet two more times. */
export async function repeatReads(command: object, dynamo: Dynamo): Promise<void> {
  if (!(command instanceof BatchGetCommand)) return;
  await dynamo(command);
  await dynamo(command);
}

/** Returns a change that makes each process read only the first version of a webhook. */
export function readingStaleWebhooks(): ChangeRuntime {
  const firstVersions = new Map<string, Item>();
  return reading((table, item) => {
    if (table !== 'Webhooks') return item;
    const first = firstVersions.get(String(item.accountId)) ?? item;
    firstVersions.set(String(item.accountId), first);
    return first;
  });
}

/** Changes the reads of a BatchGet to eventually consistent reads. */
export function readInconsistently(command: object): void {
  if (!(command instanceof BatchGetCommand)) return;
  for (const request of Object.values(command.input.RequestItems ?? {})) request.ConsistentRead = false;
}

/** Returns a runtime that sends messages without a delay. */
export function withoutDelays(runtime: ConsumerRuntime): Pick<ConsumerRuntime, 'sqs'> {
  return messaging(runtime, input => {
    input.DelaySeconds = 0;
  });
}

/** Returns a runtime that omits the reason from dead-letter messages. */
export function withoutReasons(runtime: ConsumerRuntime): Pick<ConsumerRuntime, 'sqs'> {
  return messaging(runtime, ({ MessageAttributes }) => delete MessageAttributes?.reason);
}

function messaging(
  { sqs }: ConsumerRuntime,
  change: (input: Pick<SendMessageCommand['input'], 'DelaySeconds' | 'MessageAttributes'>) => void,
): Pick<ConsumerRuntime, 'sqs'> {
  return {
    sqs: {
      send: (command: Parameters<typeof sqs.send>[0]) => {
        if (command instanceof SendMessageCommand) change(command.input);
        if (command instanceof SendMessageBatchCommand) command.input.Entries?.forEach(change);
        return sqs.send(command);
      },
    },
  };
}
