import { makeRandom, pick, type Random } from '../../../tools/support/random.ts';
import { type Account, eventName } from '../arrival.ts';
import { faultTime } from '../fault-classes.ts';
import { receiverKinds } from '../receivers.ts';
import { type CompletedRequest, hasKnownEffect, type Request } from '../requests.ts';
import { minute, second } from '../times.ts';

/** The parts of a world that integrators use. */
export interface IntegratorsWorld {
  readonly startedAt: number;
  readonly now: () => number;
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly request: Request;
  readonly addReceiver: (host: string, kind: string) => void;
  /** The time at which integrators read the results, in milliseconds after the start. */
  readonly reviewAt: number;
  /** The ids of all replays that integrators have started. */
  readonly replays: string[];
  /** Returns the delivery ids of the events that an account has published so far. */
  readonly eventsOf: (account: string) => readonly string[];
}

/**
 * Simulates the integrator of an account. Sends random requests during the faults, and then reactivates the webhook and
 * replays deliveries. Retries requests with an unknown effect.
 */
export async function integrate(account: Account, seed: number, world: IntegratorsWorld): Promise<void> {
  const { startedAt, now, pause } = world;
  const random = makeRandom(seed);
  const actions = makeActions(account, random, world);
  if (makeRandom(seed * 31)() < 0.25) await actions.suspendWith410();
  while (now() < startedAt + faultTime + minute) {
    await pause((2 + 18 * random()) * second);
    await pick<() => Promise<void>>(actions.randomActions, random)();
  }
  await actions.register();
  await actions.reactivate();
  for (const moment of [7 * minute, 8 * minute, 25 * minute]) {
    await pause(startedAt + moment - now());
    await actions.replay();
    await actions.resend();
    await actions.readWebhooks();
    await actions.list();
  }
  await pause(startedAt + world.reviewAt - now());
  await actions.readReplays();
}

/** Lists all deliveries of an account, and reads the latest deliveries individually. */
export async function readHistory(
  { id: account }: Account,
  { request }: Pick<IntegratorsWorld, 'request'>,
): Promise<void> {
  const list = `${webhook}/entregas?limite=${maxPageSize}`;
  let cursor: unknown;
  let isFirst = true;
  do {
    const page = await request('GET', cursor ? `${list}&cursor=${cursor}` : list, { account });
    for (const id of isFirst ? idsIn(page.response).slice(0, maxReadDeliveries) : []) {
      await request('GET', `${webhook}/entregas/${id}`, { account });
    }
    isFirst = false;
    cursor = page.response.proximo_cursor;
  } while (cursor);
}

function makeActions(
  account: Account,
  random: Random,
  { startedAt, now, pause, request, addReceiver, replays, eventsOf }: IntegratorsWorld,
) {
  const ownReplays: string[] = [];
  let urlCount = 0;
  let url = `https://${account.host}/hooks`;
  const randomActions = [
    ...[replace, replace, replace, remove, register, register, rotate, rotate, test, test],
    ...[resend, resend, resend, replay, replay, cancelReplay, reactivate, readWebhooks],
  ];
  return { randomActions, suspendWith410, register, reactivate, replay, resend, readWebhooks, list, readReplays };

  async function register(): Promise<void> {
    url = newUrl();
    await send('POST', webhooks, { evento: eventName, url, ...credential() });
  }

  /** Registers a receiver that returns 410, replaces it with a slow receiver, and cancels a replay of the held deliveries. */
  async function suspendWith410(): Promise<void> {
    await replace('gone');
    await pause(startedAt + 5.1 * minute - now());
    await replace('slow');
    for (let times = 0; times < 5; times += 1) await resend();
    await pause(8 * second);
    await replay('retida', true);
  }

  async function replace(kind?: string): Promise<void> {
    if (kind !== undefined || random() < 0.6) url = newUrl(kind);
    await send('PUT', webhook, { url, ...credential() });
  }

  async function remove(): Promise<void> {
    await send('DELETE', webhook);
  }

  async function rotate(): Promise<void> {
    await send('POST', `${webhook}/segredo`, { imediato: random() < 0.3 });
  }

  async function test(): Promise<void> {
    for (let times = random() < 0.2 ? 3 : 1; times > 0; times -= 1) await send('POST', `${webhook}/teste`);
  }

  async function resend(): Promise<void> {
    const id = pick([unknownDelivery, ...eventsOf(account.id)], random);
    for (let times = random() < 0.1 ? 7 : 1; times > 0; times -= 1)
      await send('POST', `${webhook}/entregas/${id}/reenvio`);
  }

  async function replay(estado = pick(['falhou', 'retida'], random), isCancelled = random() < 0.3): Promise<void> {
    const [desde, ate] = [startedAt - minute, now() + minute].map(moment => new Date(moment).toISOString());
    const { status, response } = await send('POST', `${webhook}/reenvios`, { desde, ate, estado });
    if (status === 202) {
      ownReplays.push(String(response.id));
      replays.push(String(response.id));
    }
    if (!isCancelled) return;
    await pause(second);
    await cancelReplay();
  }

  async function cancelReplay(): Promise<void> {
    const latest = ownReplays.at(-1) ?? unknownReplay;
    const id = random() < 0.8 ? latest : pick([unknownReplay, ...replays], random);
    await send('GET', `${webhook}/reenvios/${id}`);
    await send('DELETE', `${webhook}/reenvios/${id}`);
  }

  async function readReplays(): Promise<void> {
    for (const id of ownReplays) await send('GET', `${webhook}/reenvios/${id}`);
  }

  async function reactivate(): Promise<void> {
    await send('POST', `${webhook}/reativacao`);
  }

  async function readWebhooks(): Promise<void> {
    await send('GET', webhook);
    await send('GET', webhooks);
  }

  async function list(): Promise<void> {
    await send('GET', `${webhook}/entregas?limite=${maxPageSize}`);
  }

  /** Sends a request until its effect is known, at most four times. */
  async function send(method: string, path: string, body?: CompletedRequest['body']): Promise<CompletedRequest> {
    for (let tries = 1; ; tries += 1) {
      const completed = await request(method, path, { account: account.id, ...(body && { body }) });
      if (hasKnownEffect(completed) || tries === maxTries) return completed;
      await pause(tries * second);
    }
  }

  /** Returns a URL with a unique host, so that each POST can be assigned to a webhook version. */
  function newUrl(kind = random() < 0.5 ? account.kind : pick(Object.keys(receiverKinds), random)): string {
    urlCount += 1;
    const host = `${account.id}-${urlCount}.example.com`;
    addReceiver(host, kind ?? 'quick');
    return `https://${host}/${urlCount}`;
  }

  function credential() {
    return random() < 0.5 ? {} : { autorizacao: `Bearer ${account.id}-${urlCount}` };
  }
}

const webhooks = '/v1/webhooks';
const webhook = `${webhooks}/${eventName}`;

const unknownDelivery = `evt_${'a'.repeat(27)}`;
const unknownReplay = `reenvio_${'a'.repeat(22)}`;

const maxTries = 4;

const maxPageSize = 100;

/** The maximum number of deliveries that `readHistory` reads individually. */
const maxReadDeliveries = 8;

function idsIn({ entregas }: CompletedRequest['response']): readonly string[] {
  return Array.isArray(entregas) ? entregas.map(({ id }: { readonly id: unknown }) => String(id)) : [];
}
