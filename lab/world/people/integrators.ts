import { makeRandom, pick, type Random } from '../../../tools/support/random.ts';
import { type Account, eventName } from '../arrival.ts';
import { faultTime } from '../fault-classes.ts';
import { receiverKinds } from '../receivers.ts';
import { type Answered, isKnown, type Request } from '../requests.ts';
import { minute, second } from '../times.ts';

/** The parts of a world that its integrators use. */
export interface IntegratorsWorld {
  readonly startedAt: number;
  readonly now: () => number;
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly request: Request;
  readonly addReceiver: (host: string, kind: string) => void;
  /** The time at which all work should be finished, in milliseconds after the start. */
  readonly lastLook: number;
  /** The ids of all accounts' replays so far. */
  readonly replays: string[];
  /** The ids of an account's events so far. */
  readonly eventsOf: (account: string) => readonly string[];
}

/**
 * Runs the integrator of an account. It changes the webhook, tests, resends and replays during the faults, or retires
 * one receiver, and replays afterwards. It awaits each response, and repeats requests without one.
 */
export async function integrate(account: Account, seed: number, world: IntegratorsWorld): Promise<void> {
  const { startedAt, now, pause } = world;
  const random = makeRandom(seed);
  const acts = makeActs(account, random, world);
  if (makeRandom(seed * 31)() < 0.25) await acts.retire();
  while (now() < startedAt + faultTime + minute) {
    await pause((2 + 18 * random()) * second);
    await pick<() => Promise<void>>(acts.inTurmoil, random)();
  }
  await acts.register();
  await acts.reactivate();
  for (const moment of [7 * minute, 8 * minute, 25 * minute]) {
    await pause(startedAt + moment - now());
    await acts.replay();
    await acts.resend();
    await acts.look();
    await acts.list();
  }
  await pause(startedAt + world.lastLook - now());
  await acts.lookAtReplays();
}

/** Reads all deliveries of an account, and the latest few of them one by one. */
export async function readHistory(
  { id: account }: Account,
  { request }: Pick<IntegratorsWorld, 'request'>,
): Promise<void> {
  const list = `${webhook}/entregas?limite=${maxPageSize}`;
  let cursor: unknown;
  let isFirst = true;
  do {
    const page = await request('GET', cursor ? `${list}&cursor=${cursor}` : list, { account });
    for (const id of isFirst ? idsIn(page.answer).slice(0, lookedAt) : []) {
      await request('GET', `${webhook}/entregas/${id}`, { account });
    }
    isFirst = false;
    cursor = page.answer.proximo_cursor;
  } while (cursor);
}

/** Creates the actions of an integrator. */
function makeActs(
  account: Account,
  random: Random,
  { startedAt, now, pause, request, addReceiver, replays, eventsOf }: IntegratorsWorld,
) {
  const ownReplays: string[] = [];
  let urls = 0;
  let url = `https://${account.host}/hooks`;
  const inTurmoil = [
    ...[replace, replace, replace, remove, register, register, rotate, rotate, test, test],
    ...[resend, resend, resend, replay, replay, cancelReplay, reactivate, look],
  ];
  return { inTurmoil, retire, register, reactivate, replay, resend, look, list, lookAtReplays };

  async function register(): Promise<void> {
    url = newUrl();
    await ask('POST', webhooks, { evento: eventName, url, ...credential() });
  }

  /** Replaces a receiver that soon returns 410 with a slow one, and cancels the replay of the held deliveries. */
  async function retire(): Promise<void> {
    await replace('gone');
    await pause(startedAt + 5.1 * minute - now());
    await replace('slow');
    for (let times = 0; times < 5; times += 1) await resend();
    await pause(8 * second);
    await replay('retida', true);
  }

  async function replace(kind?: string): Promise<void> {
    if (kind !== undefined || random() < 0.6) url = newUrl(kind);
    await ask('PUT', webhook, { url, ...credential() });
  }

  async function remove(): Promise<void> {
    await ask('DELETE', webhook);
  }

  async function rotate(): Promise<void> {
    await ask('POST', `${webhook}/segredo`, { imediato: random() < 0.3 });
  }

  async function test(): Promise<void> {
    for (let times = random() < 0.2 ? 3 : 1; times > 0; times -= 1) await ask('POST', `${webhook}/teste`);
  }

  async function resend(): Promise<void> {
    const id = pick([unknownDelivery, ...eventsOf(account.id)], random);
    for (let times = random() < 0.1 ? 7 : 1; times > 0; times -= 1)
      await ask('POST', `${webhook}/entregas/${id}/reenvio`);
  }

  async function replay(estado = pick(['falhou', 'retida'], random), isCancelled = random() < 0.3): Promise<void> {
    const [desde, ate] = [startedAt - minute, now() + minute].map(moment => new Date(moment).toISOString());
    const { status, answer } = await ask('POST', `${webhook}/reenvios`, { desde, ate, estado });
    if (status === 202) {
      ownReplays.push(String(answer.id));
      replays.push(String(answer.id));
    }
    if (!isCancelled) return;
    await pause(second);
    await cancelReplay();
  }

  async function cancelReplay(): Promise<void> {
    const latest = ownReplays.at(-1) ?? unknownReplay;
    const id = random() < 0.8 ? latest : pick([unknownReplay, ...replays], random);
    await ask('GET', `${webhook}/reenvios/${id}`);
    await ask('DELETE', `${webhook}/reenvios/${id}`);
  }

  async function lookAtReplays(): Promise<void> {
    for (const id of ownReplays) await ask('GET', `${webhook}/reenvios/${id}`);
  }

  async function reactivate(): Promise<void> {
    await ask('POST', `${webhook}/reativacao`);
  }

  async function look(): Promise<void> {
    await ask('GET', webhook);
    await ask('GET', webhooks);
  }

  async function list(): Promise<void> {
    await ask('GET', `${webhook}/entregas?limite=${maxPageSize}`);
  }

  /** Repeats a request until it has a response, at most four times. */
  async function ask(method: string, path: string, body?: Answered['body']): Promise<Answered> {
    for (let tries = 1; ; tries += 1) {
      const answered = await request(method, path, { account: account.id, ...(body && { body }) });
      if (isKnown(answered) || tries === maxTries) return answered;
      await pause(tries * second);
    }
  }

  /** Returns a URL with a unique host, so that a POST shows its intended webhook. */
  function newUrl(kind = random() < 0.5 ? account.kind : pick(Object.keys(receiverKinds), random)): string {
    urls += 1;
    const host = `${account.id}-${urls}.example.com`;
    addReceiver(host, kind ?? 'quick');
    return `https://${host}/${urls}`;
  }

  function credential() {
    return random() < 0.5 ? {} : { autorizacao: `Bearer ${account.id}-${urls}` };
  }
}

const webhooks = '/v1/webhooks';
const webhook = `${webhooks}/${eventName}`;

const unknownDelivery = `evt_${'a'.repeat(27)}`;
const unknownReplay = `reenvio_${'a'.repeat(22)}`;

const maxTries = 4;

const maxPageSize = 100;

/** The number of an account's deliveries that are read one by one. */
const lookedAt = 8;

function idsIn({ entregas }: Answered['answer']): readonly string[] {
  return Array.isArray(entregas) ? entregas.map(({ id }: { readonly id: unknown }) => String(id)) : [];
}
