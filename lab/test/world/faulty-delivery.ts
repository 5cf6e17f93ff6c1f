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

/** Returns the product without some of its counts. */
export function countingNone(
  uncounted: readonly string[],
  { deliver = composeDeliver }: Partial<Compositions>,
): Partial<Compositions> {
  return {
    deliver: (environment, runtime, telemetry) => {
      const count: typeof telemetry.count = (metric, by) => {
        if (!uncounted.includes(metric)) telemetry.count(metric, by);
      };
      return deliver(environment, runtime, { ...telemetry, count });
    },
  };
}

/** Returns a sweep that does its work and then fails. */
export function failingAfter(sweep: ReturnType<typeof composeSweep>): ReturnType<typeof composeSweep> {
  return async (...given) => {
    await sweep(...given);
    throw new Error('It fails.');
  };
}

/** Returns consumers with another runtime. Each change receives the result of the one before it. */
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

/** Returns a runtime that treats refused connections as internal faults. */
export function blamingItself({ post }: ConsumerRuntime): Pick<ConsumerRuntime, 'post'> {
  return {
    post: async request => {
      const answer = await post(request);
      const isRefused = answer.outcome === 'failed' && answer.cause === 'refused';
      return isRefused ? { ...answer, kind: 'internal_error' } : answer;
    },
  };
}

/** Returns a runtime that drops all headers of answers. */
export function readingNoHeaders({ post }: ConsumerRuntime): Pick<ConsumerRuntime, 'post'> {
  return { post: async request => ({ ...(await post(request)), headers: {} }) };
}

/** Sends other headers. */
export function sending(headers: Readonly<Record<string, string>>): ChangeRuntime {
  return ({ post }) => ({ post: request => post({ ...request, headers: { ...request.headers, ...headers } }) });
}

/** Returns a client of DynamoDB that alters each command before its call, and each answer after it, in place. */
export function altering(dynamo: Dynamo, alter: Alter, alterAnswer: AlterAnswer = () => undefined): Dynamo {
  return async (command, options) => {
    await alter(command, dynamo);
    const answer = await dynamo(command, options);
    alterAnswer(answer, command);
    return answer;
  };
}

type Alter = (command: { readonly input: object }, dynamo: Dynamo) => unknown;
type AlterAnswer = (answer: object, command: object) => void;

/** Returns a change by which consumers send altered commands. */
export function calling(alter: Alter, alterAnswer?: AlterAnswer): ChangeRuntime {
  return ({ dynamo }) => ({ dynamo: altering(dynamo, alter, alterAnswer) });
}

/** Returns the other functions with altered commands. */
export function apisWith(alter: Alter): Partial<Compositions> {
  const altered = <Given extends { readonly dynamo: Dynamo }>(runtime: Given) => ({
    ...runtime,
    dynamo: altering(runtime.dynamo, alter),
  });
  return {
    sweep: (environment, runtime, telemetry) => composeSweep(environment, altered(runtime), telemetry),
    webhooksApi: (environment, runtime, telemetry) => composeWebhooksApi(environment, altered(runtime), telemetry),
    deliveriesApi: (environment, runtime, ...rest) => composeDeliveriesApi(environment, altered(runtime), ...rest),
  };
}

/** Stores other items if `change` returns one. */
export function storing(change: (item: Item) => Item | undefined): ChangeRuntime {
  return calling(command => {
    if (command instanceof PutCommand) Object.assign(command.input.Item ?? {}, change(command.input.Item ?? {}));
  });
}

/** Stores other records of attempts, in the format of `packAttempt`. */
export function recording(change: (records: readonly string[]) => readonly string[]): ChangeRuntime {
  return storing(({ attempts }) => (Array.isArray(attempts) ? { attempts: change(attempts) } : undefined));
}

/** Reads other items. */
export function reading(change: (table: string, item: Item) => Item | undefined): ChangeRuntime {
  const read = (answer: object, command: object) => {
    if (!(command instanceof BatchGetCommand)) return;
    const { Responses = {} }: { readonly Responses?: Readonly<Record<string, readonly Item[]>> } = answer;
    const changed = Object.entries(Responses).map(([table, items]) => {
      return [table, items.map(item => change(table, item)).filter(item => item !== undefined)] as const;
    });
    Object.assign(answer, { Responses: Object.fromEntries(changed) });
  };
  return calling(() => undefined, read);
}

/** Returns a sweeper with another `publish`. */
export function sweepingWith(publish: (runtime: Runtime['publish']) => Runtime['publish']): Partial<Compositions> {
  return {
    sweep: (environment, runtime, telemetry) =>
      composeSweep(environment, { ...runtime, publish: publish(runtime.publish) }, telemetry),
  };
}

/** Publishes everything twice. */
export function twice(publish: Runtime['publish']): Runtime['publish'] {
  return async (topicArn, message) => {
    await publish(topicArn, message);
    await publish(topicArn, message);
  };
}

/** Drops everything. */
export function silently(): Runtime['publish'] {
  return async () => undefined;
}

/** Returns an API that answers some requests without processing them. */
export function answering(
  ...answers: readonly (readonly [method: string, path: RegExp, status: number, body: object])[]
): Partial<Compositions> {
  const instead = (api: Api) => async (request: HttpRequest) => {
    const { requestContext, rawPath } = request;
    const meant = answers.find(([method, path]) => requestContext.http.method === method && path.test(rawPath));
    return meant ? { statusCode: meant[2], body: JSON.stringify(meant[3]) } : api(request);
  };
  return {
    webhooksApi: (...given) => instead(composeWebhooksApi(...given)),
    deliveriesApi: (...given) => instead(composeDeliveriesApi(...given)),
  };
}

/** Returns an API that shows other states than the stored ones. */
export function showing(...changes: readonly (readonly [RegExp, string])[]): Partial<Compositions> {
  const shown = (api: Api) => async (request: HttpRequest) => {
    const answer = await api(request);
    return { ...answer, body: changes.reduce((body, change) => body?.replace(...change), answer.body) };
  };
  return {
    webhooksApi: (...given) => shown(composeWebhooksApi(...given)),
    deliveriesApi: (...given) => shown(composeDeliveriesApi(...given)),
  };
}

type Api = (request: HttpRequest) => Promise<HttpResponse>;

/** Sets the due time of resent deliveries to the next full ten minutes. */
export function sendOtherwise(command: object): void {
  if (!(command instanceof PutCommand)) return;
  const { Item: item } = command.input;
  if (item?.state !== 'pending') return;
  item.nextAttemptAt = 600_000 * Math.ceil(item.nextAttemptAt / 600_000);
}

/** Finds no entries in the index `undelivered`. */
export function findNoUndelivered(command: object): void {
  if (!(command instanceof QueryCommand) || command.input.IndexName !== 'undelivered') return;
  Object.assign(command.input.ExpressionAttributeValues ?? {}, { ':first': '-', ':last': '-' });
}

/** Allows an account to end its operator's suspension, or to delete it with the webhook. */
export function forgetHolds(command: object): void {
  if (!(command instanceof DeleteCommand || command instanceof UpdateCommand)) return;
  const { ConditionExpression = '', ExpressionAttributeValues: values = {} } = command.input;
  for (const [name, value] of Object.entries(values)) {
    if (value === 'operator' && ConditionExpression.includes(`<> ${name}`)) values[name] = 'nobody';
  }
}

/** Returns calls of operators that do not delete items whose ids start with a prefix. */
export function leaving(start: string): Compositions['operators'] {
  return runtime => {
    const { dynamodb } = runtime;
    const send: typeof dynamodb.send = (command, options) => {
      if (command instanceof BatchWriteCommand) {
        for (const { DeleteRequest } of command.input.RequestItems?.Deliveries ?? []) {
          if (String(DeleteRequest?.Key?.id).startsWith(start))
            Object.assign(DeleteRequest?.Key ?? {}, { id: 'other' });
        }
      }
      return dynamodb.send(command, options);
    };
    return { ...runtime, dynamodb: { send } };
  };
}

/** Reads each item three times. */
export async function askAgain(command: object, dynamo: Dynamo): Promise<void> {
  if (!(command instanceof BatchGetCommand)) return;
  await dynamo(command);
  await dynamo(command);
}

/** Uses the webhooks that were read first. */
export function remembering(): ChangeRuntime {
  const known = new Map<string, Item>();
  return reading((table, item) => {
    if (table !== 'Webhooks') return item;
    const first = known.get(String(item.accountId)) ?? item;
    known.set(String(item.accountId), first);
    return first;
  });
}

/** Reads without consistency. */
export function readCarelessly(command: object): void {
  if (!(command instanceof BatchGetCommand)) return;
  for (const asked of Object.values(command.input.RequestItems ?? {})) asked.ConsistentRead = false;
}

/** Returns a runtime whose messages arrive without their delay. */
export function withoutDelays(runtime: ConsumerRuntime): Pick<ConsumerRuntime, 'sqs'> {
  return messaging(runtime, input => {
    input.DelaySeconds = 0;
  });
}

/** Returns a runtime that omits the reason of a dead-letter message. */
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
