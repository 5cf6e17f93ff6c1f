import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { BatchGetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { composeDeliveriesApi } from '../../../lambdas/base-api/deliveries-api.composition.ts';
import { composeWebhooksApi } from '../../../lambdas/base-api/webhooks-api.composition.ts';
import { composeSweep } from '../../../lambdas/delivery/sweeper/sweep.composition.ts';
import { composeDeliver } from '../../../lambdas/delivery/worker/deliver.composition.ts';
import type { Dynamo, Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { HttpRequest, HttpResponse } from '../../../lambdas/platform/http.ts';
import type { Outside } from '../../../lambdas/platform/outside.ts';
import { runSeed } from '../../world/run-seed.ts';
import type { Compositions } from '../../world/stage.ts';

/** Faults of the product that people would meet, and what is found of them. */
const faults: readonly (readonly [fault: string, broken: Partial<Compositions>, found: RegExp])[] = [
  ['goes by what webhooks once were', remembering(), /POSTed to another URL|while an operator suspends/],
  ['reads webhooks carelessly', readingCarelessly(), /a reading that may be old/],
  ['does not wait', consumersWith(withoutDelays), /POSTed before its time/],
  [
    'does not wait for slots',
    consumersWith(outside => ({
      ...withoutDelays(outside),
      ...otherReads(outside, (_, item) => (item.slowLane === 'queued' ? { ...item, nextAttemptAt: 0 } : item)),
    })),
    /POSTed before its slot/,
  ],
  [
    'has its own pace',
    { deliver: (stage, ...rest) => composeDeliver({ ...stage, slowRate: 1_000 }, ...rest) },
    /two slots of slowness/,
  ],
  ['sees no slowness', reading((_, item) => ({ ...item, slowSince: undefined })), /its webhook is slow/],
  [
    'sees no failures',
    reading((_, item) => ({ ...item, failingSince: undefined })),
    /first lane, and it keeps failing/,
  ],
  [
    'makes tests in the retry lane',
    { deliver: (stage, ...rest) => composeDeliver({ ...stage, lane: 'slow' }, ...rest) },
    /a test was made in a quick lane/,
  ],
  [
    'has another schedule',
    { deliver: (stage, ...rest) => composeDeliver({ ...stage, retrySchedule: [1_000] }, ...rest) },
    /before its schedule was over/,
  ],
  [
    'waits otherwise',
    { deliver: (stage, ...rest) => composeDeliver({ ...stage, retrySchedule: [9e3, 9e3, 9e3, 9e3] }, ...rest) },
    /wait is longer/,
  ],
  ['signs with another secret', sending({ 'webhook-signature': 'v1,AAAA' }), /signed by other secrets/],
  ['signs at another time', sending({ 'webhook-timestamp': '1767225600' }), /its timestamp/],
  ['sends another credential', sending({ Authorization: 'other' }), /another Authorization/],
  [
    'keeps no answers',
    storing(item => (String(item.part).startsWith('answer#') ? { part: 'answer#0#other' } : undefined)),
    /is not kept/,
  ],
  ['leaves numbers out', storing(item => (item.attempt === 3 ? { attempt: 4 } : undefined)), /a number was left out/],
  ['charges nothing', storing(item => (item.charged === 2 ? { charged: 1 } : undefined)), /charged otherwise/],
  [
    'leaves what belongs to nothing',
    storing(item => (String(item.part).startsWith('answer#') ? { part: 'reply#1' } : undefined)),
    /belongs to nothing/,
  ],
  [
    'leaves what has ended in the index',
    storing(item => (item.state === 'delivered' ? { dueShard: '0', dueAt: '3' } : undefined)),
    /ended, and in the index/,
  ],
  [
    'holds what it may send',
    reading((table, item) => (table === 'Webhooks' ? { ...item, status: 'suspended' } : item)),
    /held beside an active/,
  ],
  [
    'cancels what it may send',
    reading((table, item) => (table === 'Webhooks' ? { ...item, webhookId: 'other' } : item)),
    /cancelled beside/,
  ],
  [
    'goes on with cancelled replays',
    reading((_, item) => (String(item.id).startsWith('replays#') ? undefined : item)),
    /by a replay that was cancelled/,
  ],
  [
    'withdraws of a cancelled replay all that waits',
    reading((_, item) => (item.replaySlotAt ? { ...item, replaySlotAt: 9e12 } : item)),
    /its replay had sent it/,
  ],
  [
    'takes a field that an earlier release left out for a difference',
    reading((_, item) => (item.body ? { ...item, body: String(item.body).replace('{', '{"link2":1,') } : item)),
    /taken for event.conflicting_copy/,
  ],
  [
    'undoes changes',
    storing(({ slowLane, version }) =>
      slowLane === 'queued' && version ? { version: Number(version) - 1 } : undefined,
    ),
    /undone by another/,
  ],
  [
    'suspends for an answer that it does not store',
    storing(({ attempts }) => (/,\d?410[,"]/.test(JSON.stringify(attempts ?? [])) ? { attempts: [] } : undefined)),
    /its answer stands nowhere/,
  ],
  ['asks the store again and again', askingAgain(), /^GET .* makes \d+ calls/],
  ['counts one more than a replay sent', showingReplays(/"enviadas":/, '$&1'), /entered the queue/],
  [
    'shows replays as running for ever',
    showingReplays(/"estado":"[a-z_]*"/, '"estado":"em_andamento"'),
    /is shown as em_andamento/,
  ],
  ['sends ten deliveries of a replay at once', replayingWith(sendEachSecond), /two slots of replays/],
  ['removes nothing', answering('DELETE', /criada$/, 204, {}), /and it stays/],
  ['registers nothing', answering('POST', /webhooks$/, 201, {}), /nothing of it was stored/],
  ['finds no webhook', answering('PUT', /criada$/, 404, { code: 'webhook_not_found' }), /though it was there/],
  ['replaces nothing', answering('PUT', /criada$/, 200, {}), /it was so at no time/],
  ['tells another secret', answering('POST', /segredo$/, 201, { segredo: 'whsec_' }), /the secret at no time/],
  [
    'refuses without a reason',
    answering('POST', /reativacao$/, 409, { code: 'suspended_by_operator' }),
    /though none had/,
  ],
  ['makes no test', answering('POST', /teste$/, 202, { id: 'teste_' }), /and it is not stored/],
  ['resends nothing', answering('POST', /reenvio$/, 202, { id: 'evt_' }), /nothing came of it/],
  ['starts no replay', answering('POST', /reenvios$/, 202, { id: 'reenvio_' }), /was accepted, and not stored/],
  ['finds no replay', answering('GET', /reenvio_/, 404, { code: 'replay_not_found' }), /404 .*though it is there/],
  ['finds any replay', answering('GET', /reenvio_/, 200, {}), /reenvios.*though it is not there/],
  ['lists nothing', answering('GET', /entregas$/, 200, { entregas: [], proximo_cursor: null }), /not in the list/],
  ['shows other attempts', answering('GET', /evt_[^/]*$/, 200, { tentativas: [] }), /shown with other attempts/],
  [
    'limits resends too early',
    { deliveriesApi: (stage, ...rest) => composeDeliveriesApi({ ...stage, resendLimit: 1 }, ...rest) },
    /refused below the limit/,
  ],
  ['tells operators nothing', sweepingWith(silently), /operators were not told/],
  ['tells operators twice', sweepingWith(twice), /operators were told twice/],
  ['tells publishers nothing', consumersWith(() => ({ publish: silently() })), /told of 0 in calm/],
  ['tells publishers twice', consumersWith(({ publish }) => ({ publish: twice(publish) })), /told twice in calm/],
  ['counts nothing that is held', countingNoneHeld(), /0 × Held/],
  ['takes three names that nobody reaches for its own outage', consumersWith(blamingItself), /a fault of ours in calm/],
  [
    'fails once it has swept',
    { sweep: (...given) => failingAfter(composeSweep(...given)) },
    /in calm an invocation failed/,
  ],
];

test.each(faults)('A product that %s is found out.', async (_, broken, found) => {
  const told: string[] = [];
  for (const seed of [1, 2, 3, 4, 5]) {
    const { violations } = await runSeed(seed, 'calm', broken);
    if (violations.some(({ what }) => found.test(what))) return;
    told.push(...violations.map(({ what }) => what));
  }
  expect.unreachable(`No seed has found it, but: ${[...new Set(told)].join('; ')}`);
});

function countingNoneHeld(): Partial<Compositions> {
  return {
    deliver: (environment, outside, telemetry) => {
      const count: typeof telemetry.count = (metric, by) => {
        if (metric !== 'Held') telemetry.count(metric, by);
      };
      return composeDeliver(environment, outside, { ...telemetry, count });
    },
  };
}

function failingAfter(sweep: ReturnType<typeof composeSweep>): ReturnType<typeof composeSweep> {
  return async (...given) => {
    await sweep(...given);
    throw new Error('It fails.');
  };
}

/** Returns consumers with something else that leads out. */
function consumersWith(change: (outside: ConsumerOutside) => Partial<ConsumerOutside>): Partial<Compositions> {
  return {
    deliver: (environment, outside, telemetry) =>
      composeDeliver(environment, { ...outside, ...change(outside) }, telemetry),
  };
}

type ConsumerOutside = Parameters<typeof composeDeliver>[1];

/** Returns an outside whose posts count the names that cannot be reached, of all accounts together. */
function blamingItself({ post }: ConsumerOutside): Pick<ConsumerOutside, 'post'> {
  const names = new Set<string>();
  return {
    post: async request => {
      const answer = await post(request);
      if (answer.outcome === 'response') names.clear();
      if (answer.outcome !== 'failed' || answer.kind !== 'unreachable') return answer;
      names.add(request.serverName);
      return names.size < 3 ? answer : { ...answer, kind: 'internal_error' };
    },
  };
}

/** Returns consumers that send other headers. */
function sending(headers: Readonly<Record<string, string>>): Partial<Compositions> {
  return consumersWith(({ post }) => ({
    post: request => post({ ...request, headers: { ...request.headers, ...headers } }),
  }));
}

/** Returns consumers that store other items, where a change is returned. */
function storing(change: (item: Item) => Item | undefined): Partial<Compositions> {
  return consumersWith(({ dynamo }) => ({
    dynamo: (command, options) => {
      if (command instanceof PutCommand) Object.assign(command.input.Item ?? {}, change(command.input.Item ?? {}));
      return dynamo(command, options);
    },
  }));
}

/** Returns consumers that read other items. */
function reading(change: ChangeRead): Partial<Compositions> {
  return consumersWith(outside => otherReads(outside, change));
}

function otherReads({ dynamo }: ConsumerOutside, change: ChangeRead): Pick<ConsumerOutside, 'dynamo'> {
  return {
    dynamo: async (command, options) => {
      const output = await dynamo(command, options);
      if (!(command instanceof BatchGetCommand)) return output;
      const answered: object = output;
      const read: Readonly<Record<string, readonly Item[]>> = Reflect.get(answered, 'Responses');
      const changed = Object.entries(read).map(([table, items]) => {
        return [table, items.map(item => change(table, item)).filter(item => item !== undefined)] as const;
      });
      Reflect.set(output, 'Responses', Object.fromEntries(changed));
      return output;
    },
  };
}

type ChangeRead = (table: string, item: Item) => Item | undefined;

/** Returns a sweeper that publishes otherwise. */
function sweepingWith(publish: (outside: Outside['publish']) => Outside['publish']): Partial<Compositions> {
  return {
    sweep: (environment, outside, telemetry) =>
      composeSweep(environment, { ...outside, publish: publish(outside.publish) }, telemetry),
  };
}

function twice(publish: Outside['publish']): Outside['publish'] {
  return async (topicArn, message) => {
    await publish(topicArn, message);
    await publish(topicArn, message);
  };
}

function silently(): Outside['publish'] {
  return async () => undefined;
}

/** Returns an API that answers some requests without doing anything. */
function answering(method: string, path: RegExp, status: number, body: object): Partial<Compositions> {
  const instead = (api: Api) => async (request: HttpRequest) => {
    const { requestContext, rawPath } = request;
    const isMeant = requestContext.http.method === method && path.test(rawPath);
    return isMeant ? { statusCode: status, body: JSON.stringify(body) } : api(request);
  };
  return {
    webhooksApi: (...given) => instead(composeWebhooksApi(...given)),
    deliveriesApi: (...given) => instead(composeDeliveriesApi(...given)),
  };
}

/** Returns an API that shows replays otherwise. */
function showingReplays(pattern: RegExp, instead: string): Partial<Compositions> {
  return {
    deliveriesApi: (...given) => {
      const api = composeDeliveriesApi(...given);
      return async request => {
        const answer = await api(request);
        const isReplay = answer.body?.startsWith('{"id":"reenvio_');
        return isReplay ? { ...answer, body: answer.body?.replace(pattern, instead) ?? '' } : answer;
      };
    },
  };
}

type Api = (request: HttpRequest) => Promise<HttpResponse>;

/** Returns the parts of the service that run replays, which send other commands: each is altered in place. */
function replayingWith(alter: (command: object) => void): Partial<Compositions> {
  const altering =
    (dynamo: Dynamo): Dynamo =>
    (command, options) => {
      alter(command);
      return dynamo(command, options);
    };
  return {
    sweep: (environment, outside, telemetry) =>
      composeSweep(environment, { ...outside, dynamo: altering(outside.dynamo) }, telemetry),
    deliveriesApi: (environment, outside, telemetry) =>
      composeDeliveriesApi(environment, { ...outside, dynamo: altering(outside.dynamo) }, telemetry),
  };
}

function sendEachSecond(command: object): void {
  if (!(command instanceof PutCommand)) return;
  const { Item: item } = command.input;
  if (item?.replayId && item.state === 'pending') item.nextAttemptAt = 1_000 * Math.ceil(item.nextAttemptAt / 1_000);
}

/** Returns an API that reads each item three times. */
function askingAgain(): Partial<Compositions> {
  const again =
    (dynamo: Dynamo): Dynamo =>
    async (command, options) => {
      if (command instanceof BatchGetCommand) {
        await dynamo(command, options);
        await dynamo(command, options);
      }
      return dynamo(command, options);
    };
  return {
    webhooksApi: (environment, outside, telemetry) =>
      composeWebhooksApi(environment, { ...outside, dynamo: again(outside.dynamo) }, telemetry),
  };
}

/** Returns consumers that go by the webhooks that they read first. */
function remembering(): Partial<Compositions> {
  const known = new Map<string, Item>();
  return reading((table, item) => {
    if (table !== 'Webhooks') return item;
    const first = known.get(String(item.accountId)) ?? item;
    known.set(String(item.accountId), first);
    return first;
  });
}

/** Returns consumers whose reads may be old. */
function readingCarelessly(): Partial<Compositions> {
  return consumersWith(({ dynamo }) => ({
    dynamo: (command, options) => {
      if (command instanceof BatchGetCommand) {
        for (const asked of Object.values(command.input.RequestItems ?? {})) asked.ConsistentRead = false;
      }
      return dynamo(command, options);
    },
  }));
}

/** Returns a way out by which messages come at once. */
function withoutDelays({ sqs }: ConsumerOutside): Pick<ConsumerOutside, 'sqs'> {
  return {
    sqs: {
      send: (command: Parameters<typeof sqs.send>[0]) => {
        if (command instanceof SendMessageCommand) command.input.DelaySeconds = 0;
        return sqs.send(command);
      },
    },
  };
}
