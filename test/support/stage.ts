import { PublishCommand } from '@aws-sdk/client-sns';
import { DeleteCommand, GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Tables } from '@emissor/cloud/dynamodb/tables';
import type { FaultPlan, Outcome, ProcessRuntime } from '@emissor/cloud/virtual';
import { makeWorld } from '../../lab/world/make-world.ts';
import { functionOf } from '../../lab/world/requests.ts';
import { deliveryEnvironment, queueOf, stageValuesOf } from '../../lab/world/stage.ts';
import { composeDeliveriesApi } from '../../lambdas/base-api/deliveries-api.composition.ts';
import { withSlowAttempts } from '../../lambdas/delivery/lanes/slowness.ts';
import { makeSlownessStore } from '../../lambdas/delivery/lanes/slowness-store.ts';
import { makeDeliveryStore } from '../../lambdas/delivery/store/delivery-store.ts';
import type { DeliveryMetric } from '../../lambdas/delivery/telemetry.ts';
import type { Dynamo } from '../../lambdas/platform/aws/dynamo.ts';
import { systemTime } from '../../lambdas/platform/timer.ts';
import type { Webhook } from '../../lambdas/webhooks/webhook.ts';
import { makeWebhookStore } from '../../lambdas/webhooks/webhook-store.ts';
import { aWebhook, fakeTelemetry, noon } from '../unit/delivery/builders.ts';
import { keyringDynamo, kms } from '../unit/delivery/test-keyring.ts';
import { makeCallers } from './callers.ts';
import { httpRequest } from './http-request.ts';
import { makeScriptedReceivers } from './scripted-receivers.ts';
import { makeStageViews } from './stage-views.ts';

export type Stage = ReturnType<typeof makeStage>;

/** The delays of the retry schedule in milliseconds. Two of them use the queue, and one uses the sweeper. */
export const schedule = [5_000, 5 * 60_000, 30 * 60_000];

/**
 * Creates a stage without webhooks, which is the world from `lab/world` with scripted receivers. Only waits take time, and time passes only in
 * `pass`, `run`, `settle` and requests. `concurrency` is the maximum number of processes per lane.
 */
export function makeStage(waits: readonly number[] = schedule, concurrency = 10) {
  const telemetry = fakeTelemetry();
  const receivers = makeScriptedReceivers();
  const faults: { -readonly [Name in 'outcomeOf']?: FaultPlan[Name] | undefined } = {};
  const world = makeWorld(1, 'none', compositions, {
    ...{ accounts: [], publications: [], hasPeople: false, keepsTrace: false, tableLag: 0 },
    cloud: { start: noon, costs: immediate },
    faults: { outcomeOf: call => faults.outcomeOf?.(call) },
    stage: {
      values: { ...stageValuesOf(1), ...deliveryEnvironment, retrySchedule: [...waits], attemptTimeoutMs: 15_000 },
      runtimeOf,
      sweepIntervalMs: 0,
      concurrencyOf: { first: concurrency, retry: concurrency, slow: concurrency },
      telemetryOf: () => ({
        log: telemetry.log,
        startInvocation: () => undefined,
        count: (metric, by) => telemetry.count(metric as DeliveryMetric, by),
        measure: (metric, by) => telemetry.measure(metric as 'OldestDue', by),
      }),
    },
  });
  world.end(); // tests use the real globals
  const { cloud } = world;
  const tables: { -readonly [Name in keyof Tables]: Tables[Name] } = world.tables; // a test may replace `execute`
  const { now } = cloud;
  const dynamo: Dynamo = async command => tables.execute(command);
  const callers = makeCallers(now, dynamo);
  const slownessStore = makeSlownessStore({ dynamo, table: 'Deliveries', now });
  let nextSweep = now() + minute;
  const inProgress = new Set<Promise<unknown>>();
  return {
    ...telemetry,
    ...{ posts: receivers.posts, answers: receivers.answers },
    faults,
    ...{ tables, dynamo, now },
    ...{ store: makeDeliveryStore({ ...systemTime, now, dynamo, table: 'Deliveries' }) },
    webhooks: makeWebhookStore({ dynamo, table: 'Webhooks' }),
    ...{ run, pass, skip, settle, sweep },
    ...{ publish, publishEvent, request, register, remove, webhook },
    ...makeStageViews(world, telemetry.lines),
    slowness: () => slownessStore.change(owner, () => undefined),
    slowDown: () => slownessStore.change(owner, one => withSlowAttempts(one, { slow: 2, quick: 0 }, now())),
    send: (queue: string, body: string) => cloud.send(queue, { body }),
    lose,
  };

  /** Returns the runtime of a process. It reads the keys without a call. */
  function runtimeOf(process: ProcessRuntime) {
    const { time, random, dynamodb, sqs, sns } = process;
    const isOfKeys = (command: object) => command instanceof QueryCommand && command.input.TableName === 'Keyring';
    const dynamo: Dynamo = (command, options) =>
      isOfKeys(command) ? keyringDynamo(command, options) : dynamodb.send(command, options);
    return {
      ...{ time, dynamo, sqs, kms },
      random: { ...random, number: () => 0.5 },
      publish: async (TopicArn: string, message: object) => {
        await sns.send(new PublishCommand({ TopicArn, Message: undefined, ...message }));
      },
      resolve: receivers.resolve,
      post: receivers.postFrom(process),
    };
  }

  /** Runs until a point in time, with a sweep every minute. */
  async function run(moment: number): Promise<void> {
    for (; nextSweep <= moment; nextSweep += minute) {
      await cloud.run(nextSweep);
      cloud.function('sweep').invoke({}, () => undefined);
    }
    await cloud.run(moment);
  }

  function pass(milliseconds: number): Promise<void> {
    return run(now() + milliseconds);
  }

  /** Advances the time without sweeps, which would slow down a test. */
  async function skip(milliseconds: number): Promise<void> {
    nextSweep += Math.ceil(milliseconds / minute) * minute;
    await pass(milliseconds);
  }

  /** Runs until the queues are empty and no delivery is scheduled. */
  async function settle(): Promise<void> {
    const isBusy = () =>
      Object.values(queueOf).some(name => cloud.queue(name).all().length > 0) ||
      tables.items('Deliveries').some(({ dueAt }) => dueAt !== undefined);
    for (let seconds = 0; isBusy(); seconds += 1) {
      if (seconds > 200_000) throw new Error('The stage still has messages or scheduled deliveries.');
      await pass(1_000);
    }
  }

  /** Runs an additional sweep. @throws the error from the sweep */
  async function sweep(): Promise<void> {
    resultOf(await invoke('sweep', {}));
  }

  /** Publishes a message and returns its id. */
  function publish(message: object | string, texts: Record<string, string> = {}, sender = 'AROAPUBLISHER:one'): string {
    const attributes = Object.entries(texts).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]);
    const body = typeof message === 'string' ? message : JSON.stringify(message);
    return cloud.send(queueOf.first, { body, attributes: Object.fromEntries(attributes) }, sender);
  }

  /** Publishes an event for the webhook of `register`. */
  function publishEvent(changes: object = {}, texts?: Record<string, string>): string {
    return publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7, ...changes }, texts);
  }

  /** Sends a request to {base_url} and returns the response. */
  async function request(method: string, path: string, sent: StageRequest = {}): Promise<StageResponse> {
    const { body, raw = body === undefined ? undefined : JSON.stringify(body), query, token = admin } = sent;
    const httpEvent = httpRequest({
      method,
      path,
      ...(query !== undefined && { query }),
      ...(raw !== undefined && { body: raw }),
    });
    const type = raw === undefined ? {} : { 'content-type': 'application/json' };
    const headers = { authorization: `Bearer ${token}`, ...type, ...sent.headers };
    const authorization = await callers.authorization(headers.authorization);
    const outcome = await invoke(functionOf(path), { ...httpEvent, headers: { ...headers, authorization } });
    const response: GatewayResult = { ...Object(resultOf(outcome)) };
    const { statusCode: status, body: text = '' } = response;
    return { status, headers: response.headers ?? {}, json: text === '' ? undefined : JSON.parse(text) };
  }

  /** Invokes a function. Time passes until all invocations have ended. */
  async function invoke(name: string, event: unknown): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const isFirst = inProgress.size === 0;
    inProgress.add(promise);
    cloud.function(name).invoke(event, outcome => {
      inProgress.delete(promise);
      resolve(outcome);
    });
    if (isFirst) await cloud.runUntilTrue(() => inProgress.size === 0);
    return promise;
  }

  async function register(changes: Partial<Webhook> = {}): Promise<void> {
    const Item = aWebhook({ createdAt: now(), updatedAt: now(), ...changes });
    tables.execute(new PutCommand({ TableName: 'Webhooks', Item }));
  }

  async function remove(): Promise<void> {
    tables.execute(new DeleteCommand({ TableName: 'Webhooks', Key: owner }));
  }

  async function webhook() {
    return tables.execute(new GetCommand({ TableName: 'Webhooks', Key: owner })).Item;
  }

  /** Removes all messages from a queue and returns them. */
  function lose(name: string) {
    const queue = cloud.queue(name);
    const lost = queue.all();
    queue.purge();
    return lost;
  }
}

export interface StageRequest {
  readonly body?: unknown;
  /** The text that replaces the JSON of `body`. */
  readonly raw?: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  /** The caller, as `<role>|<scope> <scope>|<account>`. @default - an admin of `conta-1` with both scopes */
  readonly token?: string;
}

export interface StageResponse {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read JSON of every type
  readonly json: any;
}

interface GatewayResult {
  readonly statusCode?: number;
  readonly headers?: Record<string, unknown>;
  readonly body?: string;
}

/** Replaces the world's API with one that has the limits of a real stage. */
const compositions: Parameters<typeof makeWorld>[2] = {
  deliveriesApi: (environment, runtime, telemetry) => composeDeliveriesApi(environment, runtime, telemetry),
};

/** Costs without durations. Only a receive takes time, because a consumer repeats it while it waits for a receiver. */
export const immediate = {
  ...{ coreShare: 1, call: 0, entry: 0, timer: 0, message: 0, invoke: 0, coldStart: 0 },
  latency: { 'sqs:ReceiveMessage': 100 },
};

const admin = 'admin|webhooks:read webhooks:manage|conta-1';
const minute = 60_000;
const owner = { accountId: 'conta-1', eventName: 'demanda.criada' } as const;

function resultOf(outcome: Outcome): unknown {
  if (outcome.status === 'failed') throw outcome.error;
  return outcome.status === 'returned' ? outcome.result : undefined;
}
