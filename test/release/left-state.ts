import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { GetQueueAttributesCommand, SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { deliveryIdOf } from '../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { type Client, type User, unique } from '../../tools/support/accounts.ts';
import { passwordGrant, refreshGrant, type Tokens } from '../../tools/support/service-client.ts';
import { until } from '../support/e2e-poll.ts';
import type { Receiver } from './receiver.ts';
import type { ServingRelease } from './serving-release.ts';

/** The state that one release left in tables and queues for another one to go on with. */
export interface LeftState {
  readonly account: string;
  readonly client: Client;
  readonly user: User;
  /** Two sessions: one as it began, one whose tokens were refreshed. A caller who refreshes them puts the new tokens here. */
  readonly sessions: Tokens[];
  readonly webhooks: Readonly<Record<Purpose, LeftWebhook>>;
  /** The replay of `webhooks.replayed` that is under way. */
  readonly replayId: string;
  /** The id of a message in the dead-letter queue. */
  readonly deadLetter: string;
  /** Webhooks, and deliveries that do not change by themselves, as the API shows them, by path. */
  readonly shown: Readonly<Record<string, unknown>>;
}

/** A webhook, and the deliveries that were begun for it. */
export interface LeftWebhook {
  readonly evento: EventName;
  readonly path: string;
  readonly authorization: string;
  readonly ids: readonly string[];
}

/**
 * The fate of a webhook's deliveries before the other release comes:
 * - `delivered`: they are delivered;
 * - `retried`: refused once, with a message in the retry queue;
 * - `postponed`: refused once, with a wait in the table that is too long for a queue;
 * - `queued`: events in the events queue that nobody has read;
 * - `slow`: at a receiver that hangs, with messages in the slow queue, and others waiting in the table for a slot;
 * - `replayed`: held, and in a replay that is under way, with messages in the retry queue and more to be sent.
 */
export type Purpose = keyof typeof events;

/** The state that `beginState` made. */
export type BegunState = Pick<LeftState, 'account' | 'client' | 'user' | 'sessions' | 'webhooks'>;

/** Has a release write what may wait: it stays as it is whatever else that release does. */
export async function beginState(release: ServingRelease, receiver: Receiver): Promise<BegunState> {
  const account = `account-${unique()}`;
  const client = await release.ops<Client>([
    ...['clients', 'create', '--name', 'Left', '--grant', 'password', '--grant', 'refresh_token'],
  ]);
  const user = await createUser(release, account);
  const sessions = await beginSessions(release, client, user);
  const token = sessions[0]?.access_token ?? '';
  const call = caller(release, token);
  const webhooks = {} as Record<Purpose, LeftWebhook>;
  for (const purpose of purposes) {
    webhooks[purpose] = await registerWebhook(release, receiver, token, account, purpose);
  }

  const { delivered, postponed, replayed } = webhooks;
  await release.ops(['webhooks', 'suspend', '--account', account, '--event', replayed.evento]);
  receiver.set(postponed.path, { retryAfter: 3_600 });
  webhooks.replayed = await publish(release, account, replayed, replayedCount);
  webhooks.delivered = await publish(release, account, delivered, 2);
  webhooks.postponed = await publish(release, account, postponed, 2);
  await untilAll(call, webhooks.replayed, 'retida');
  await untilAll(call, webhooks.delivered, 'entregue');
  await untilAttempted(call, webhooks.postponed);
  return { account, client, user, sessions, webhooks };
}

/** Has the release begin what does not wait. It must be stopped right after. */
export async function leaveState(
  release: ServingRelease,
  receiver: Receiver,
  { webhooks, ...begun }: BegunState,
): Promise<LeftState> {
  const { account, sessions } = begun;
  const call = caller(release, sessions[0]?.access_token ?? '');
  const { retried, queued, slow, replayed } = webhooks;

  receiver.set(slow.path, 'hang');
  const hanging = await publish(release, account, slow, 3);
  await until('slowness', () => isLogged(release, 'webhook.slow', account), limit);
  const waiting = await publishUntilWaiting(release, account, slow);

  await release.ops(['webhooks', 'reactivate', '--account', account, '--event', replayed.evento]);
  const range = { desde: new Date(0).toISOString(), ate: new Date().toISOString(), estado: 'retida' };
  const replay = await call('POST', `/v1/webhooks/${replayed.evento}/reenvios`, range);
  receiver.set(retried.path, { retryAfter: 25 });
  const refused = await publish(release, account, retried, 2);
  await untilAttempted(call, refused);
  const deadLetter = await putDeadLetter(release, account);
  const unread = await publish(release, account, queued, 3, 10);
  const shown = await readShown(call, webhooks);
  await requireUnfinished(release, call, `/v1/webhooks/${replayed.evento}/reenvios/${replay.id}`);

  const all = { ...slow, ids: [...hanging.ids, ...waiting] };
  return {
    ...begun,
    webhooks: { ...webhooks, retried: refused, queued: unread, slow: all },
    replayId: String(replay.id),
    deadLetter,
    shown,
  };
}

/** Sends a request to {base_url} that must succeed. Returns its answer. */
export type Call = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

/** Makes requests with an access token. They throw what is refused. A busy service (503) is asked again, as it asks for. */
export function caller({ service, version }: ServingRelease, token: string): Call {
  return async function call(method, path, body) {
    const request = { token, ...(body === undefined ? {} : { body }) };
    let answer = await service.callApi(method, path, request);
    for (let tries = 1; answer.status === 503 && tries < 5; tries += 1) {
      await pause(tries * 1_000);
      answer = await service.callApi(method, path, request);
    }
    if (answer.status >= 300) throw new Error(`${version}: ${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json ?? {};
  };
}

/** A delivery as the history shows it. */
export interface ShownDelivery {
  readonly id: string;
  readonly estado: string;
  readonly tentativas: readonly { readonly resultado: string; readonly status: number | null }[];
}

/** Shows one delivery. */
export async function showDelivery(call: Call, { evento }: LeftWebhook, id: string): Promise<ShownDelivery> {
  return (await call('GET', `/v1/webhooks/${evento}/entregas/${id}`)) as unknown as ShownDelivery;
}

/** Lists the ids of a webhook's deliveries in a state, of all pages of its history. */
export async function listDeliveries(call: Call, { evento }: LeftWebhook, estado: string): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor = '';
  do {
    const page = await call('GET', `/v1/webhooks/${evento}/entregas?estado=${estado}&limite=100${cursor}`);
    ids.push(...(page.entregas as { id: string }[]).map(({ id }) => id));
    cursor = page.proximo_cursor === null ? '' : `&cursor=${page.proximo_cursor}`;
  } while (cursor !== '');
  return ids;
}

/** Waits until a webhook's deliveries, and no others, are in a state. */
export async function untilAll(call: Call, webhook: LeftWebhook, estado: string): Promise<void> {
  const { evento, ids } = webhook;
  const wanted = ids.toSorted().join();
  await until(
    `${ids.length} deliveries of ${evento} in state ${estado}`,
    async () => ((await listDeliveries(call, webhook, estado)).toSorted().join() === wanted ? true : undefined),
    longLimit,
    1_000, // each question reads a whole history
  );
}

/** An event of each purpose. */
const events = {
  delivered: 'demanda.criada',
  retried: 'demanda.cancelada',
  postponed: 'demanda.finalizada',
  queued: 'proposta.recebida',
  slow: 'proposta.contratada',
  replayed: 'mensagem.recebida',
} as const satisfies Record<string, EventName>;

const purposes = Object.keys(events) as readonly Purpose[];

/** A replay sends a page of 100 at once; the sweeper sends the others. */
const replayedCount = 105;

/** Slots of a slow webhook are a second apart, and given for a minute: where there are more deliveries, they wait in the table. */
const slotCount = 60;

/** Milliseconds. */
const limit = 60_000;

/** Milliseconds: the sweeper comes once a minute. */
const longLimit = 180_000;

async function createUser(release: ServingRelease, account: string): Promise<User> {
  const [email, password] = [`${unique()}@releases.example.com`, `Senha-${unique()}-ção`];
  const args = ['users', 'create', '--email', email, '--account', account, '--role', 'admin'];
  const { userId } = await release.ops<{ userId: string }>(args, `${password}\n`);
  return { userId, email, account, password };
}

async function beginSessions({ service }: ServingRelease, client: Client, user: User): Promise<Tokens[]> {
  const fresh = await service.getTokens(passwordGrant(client, user));
  const second = await service.getTokens(passwordGrant(client, user));
  return [fresh, await service.getTokens(refreshGrant(client, second.refresh_token))];
}

async function registerWebhook(
  { service }: ServingRelease,
  { host, expectSignature }: Receiver,
  token: string,
  account: string,
  purpose: Purpose,
): Promise<LeftWebhook> {
  const [evento, path, authorization] = [events[purpose], `/${account}/${purpose}`, `Bearer ${unique()}`];
  const url = `https://${host}${path}`;
  const secret = await service.register(token, { evento, url, autorizacao: authorization });
  expectSignature(path, secret);
  return { evento, path, authorization, ids: [] };
}

/** Publishes events of a webhook. Returns the webhook with their deliveries. */
async function publish(
  { sqs, run }: ServingRelease,
  account: string,
  webhook: LeftWebhook,
  count: number,
  DelaySeconds = 0,
): Promise<LeftWebhook> {
  const { evento } = webhook;
  const ids = Array.from({ length: count }, () => unique());
  for (let first = 0; first < count; first += 10) {
    const Entries = ids.slice(first, first + 10).map((id, index) => ({
      Id: String(index),
      MessageBody: JSON.stringify({
        id_conta: account,
        event: evento,
        ...businessEvents.exampleValues,
        id_demanda: 1,
        id,
      }),
      MessageGroupId: account,
      DelaySeconds,
    }));
    await sqs.send(new SendMessageBatchCommand({ QueueUrl: run.outputs.EventsQueueUrl, Entries }));
  }
  return { ...webhook, ids: ids.map(id => deliveryIdOf(account, evento, id)) };
}

/** Publishes events of a slow webhook, faster than its slots pass, until one of them waits in the table. */
async function publishUntilWaiting(
  release: ServingRelease,
  account: string,
  slow: LeftWebhook,
): Promise<readonly string[]> {
  const ids = [...(await publish(release, account, slow, slotCount)).ids];
  await until(
    'a delivery without a slot',
    async () => {
      if (isLogged(release, 'delivery.waits_for_slot', account)) return true;
      ids.push(...(await publish(release, account, slow, 3)).ids);
      await pause(1_000);
      return undefined;
    },
    limit,
  );
  return ids;
}

/** Publishes a message that is no event. Returns its id, once it is in the dead-letter queue. */
async function putDeadLetter({ sqs, run, ops }: ServingRelease, account: string): Promise<string> {
  const MessageBody = JSON.stringify({ id_conta: account });
  const Entries = [{ Id: '0', MessageBody, MessageGroupId: account }];
  await sqs.send(new SendMessageBatchCommand({ QueueUrl: run.outputs.EventsQueueUrl, Entries }));
  return until('the dead letter', async () => {
    const letters = await ops<{ body: string; messageId: string }[]>(['dlq', 'list']);
    return letters.find(({ body }) => body === MessageBody)?.messageId;
  });
}

function isLogged({ run }: ServingRelease, name: string, account: string): true | undefined {
  const lines = readFileSync(run.logFile, 'utf8').split('\n');
  return lines.some(line => line.includes(name) && line.includes(account)) || undefined;
}

/** Waits until the first attempt of each delivery is stored, which failed. */
async function untilAttempted(call: Call, webhook: LeftWebhook): Promise<void> {
  await untilAll(call, webhook, 'pendente');
  for (const id of webhook.ids) {
    const { tentativas } = await showDelivery(call, webhook, id);
    if (tentativas.length !== 1) throw new Error(`${id} has ${tentativas.length} attempts.`);
  }
}

async function readShown(call: Call, webhooks: LeftState['webhooks']): Promise<LeftState['shown']> {
  const { delivered, postponed } = webhooks;
  const paths = [
    ...Object.values(webhooks).map(({ evento }) => `/v1/webhooks/${evento}`),
    ...[delivered, postponed].flatMap(({ evento, ids }) => ids.map(id => `/v1/webhooks/${evento}/entregas/${id}`)),
  ];
  return Object.fromEntries(await Promise.all(paths.map(async path => [path, await call('GET', path)])));
}

/** Makes sure that there is something to go on with: messages in each queue, and a replay that is not over. */
async function requireUnfinished({ sqs, run }: ServingRelease, call: Call, replayPath: string): Promise<void> {
  const { EventsQueueUrl, RetryQueueUrl, SlowQueueUrl } = run.outputs;
  for (const QueueUrl of [EventsQueueUrl, RetryQueueUrl, SlowQueueUrl]) {
    const AttributeNames = ['ApproximateNumberOfMessagesDelayed' as const];
    const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }));
    if (Number(Attributes?.ApproximateNumberOfMessagesDelayed) < 1) throw new Error(`${QueueUrl} is empty.`);
  }
  const { estado, enviadas } = await call('GET', replayPath);
  if (estado !== 'em_andamento' || Number(enviadas) >= replayedCount) throw new Error('The replay is over already.');
}
