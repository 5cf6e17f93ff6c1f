import type * as z from 'zod';
import { isTest } from '../../lambdas/delivery/delivery.ts';
import { wireReplayStates } from '../../lambdas/delivery/representation.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import {
  acceptedAnswer,
  deliveriesAnswer,
  deliveryAnswer,
  problemAnswer,
  replayAnswer,
  secretAnswer,
  webhookAnswer,
  webhooksAnswer,
} from './api-answers.ts';
import { type ApiSession, SessionEnded } from './api-session.ts';
import { type Answer, NoAnswer } from './service-client.ts';
import { type Language, sayingIn } from './texts.ts';
import {
  type AccountView,
  attemptView,
  type Count,
  countBySteps,
  type DeliveryPage,
  type DeliveryQuery,
  type DeliveryReference,
  type DeliveryRow,
  type DeliveryView,
  deliveryRow,
  type LatestDeliveries,
  NotThere,
  Refusal,
  type ReplayRange,
  type ReplayView,
  type Tally,
  type TallyGroup,
  type TallySpan,
  type WebhookSettings,
  type WebhookView,
} from './views.ts';

/** The data and the actions of the pages. */
export type Source = ReturnType<typeof makeApiSource>;

/**
 * Creates the source of the pages: the public API, with the session of one login. It sees one account because the API shows no other.
 */
export function makeApiSource(session: Omit<ApiSession, 'revoke'>, language: Language) {
  const { account, mayChange, host, isLocal } = session;
  const say = sayingIn(language);
  const replays = replaysOf.get(session) ?? new Map<string, string>();
  replaysOf.set(session, replays);
  return {
    account,
    /** The host of the API. */
    host,
    /** False if the token may only read. */
    mayChange,
    /** Seconds after which a page that is looked at renews itself. */
    refreshSeconds: isLocal ? 5 : 60,
    login: session.login,
    readAccount,
    findWebhook: async (event: string): Promise<WebhookView | undefined> => {
      const record = await orNothing(() => read(pathOf(event), webhookAnswer));
      return record && webhookView(record);
    },
    listDeliveries,
    /** The first page of all deliveries, and the latest of them with the times of their attempts. */
    latestDeliveries: async (query: DeliveryQuery): Promise<LatestDeliveries> => {
      const page = await listDeliveries(query);
      // One that cannot be read leaves the others: the page says over how many it looks.
      const read = await Promise.allSettled(page.deliveries.slice(0, details).map(find));
      const timed = read.flatMap(one => (one.status === 'fulfilled' && one.value ? [one.value] : []));
      return { ...page, timed, unread: read.find(one => one.status === 'rejected')?.reason };
    },
    /** Counts deliveries by time, the latest first, as far as its calls reach. */
    tally: async (span: TallySpan): Promise<Tally> => {
      const { event, from, until } = span;
      const times: Record<TallyGroup, number[]> = { delivered: [], failed: [], open: [] };
      const range = { event, since: isoTime(from), until: isoTime(until) };
      const end = await readPages(range, callsOfTally, ({ state, createdAt }) => {
        times[groups[state] ?? 'open'].push(Date.parse(createdAt));
      });
      const [delivered, failed] = [countBySteps(span, times.delivered), countBySteps(span, times.failed)];
      return { counts: { delivered, failed, open: countBySteps(span, times.open) }, ...end };
    },
    /** Counts the deliveries that a replay would send, as far as its calls reach. */
    countMatching: async (range: ReplayRange): Promise<Count> => {
      let count = 0;
      const { reached } = await readPages(range, callsOfQuestion, ({ id }) => {
        if (!isTest({ id })) count += 1;
      });
      return { count, isCutOff: reached !== undefined };
    },
    findDelivery: find,
    resend: async (reference: DeliveryReference): Promise<void> =>
      void (await call('POST', `${deliveryPath(reference)}/reenvio`)),
    /** Starts a replay. Returns its id. */
    replay: async ({ event, state, since, until }: ReplayRange): Promise<string> => {
      const path = `${pathOf(event)}/reenvios`;
      return acceptedAnswer.parse(await call('POST', path, { estado: state, desde: since, ate: until })).id;
    },
    /** Finds the replay of a webhook by its id; without one the latest that this session knows. */
    findReplay: async (event: string, id?: string): Promise<ReplayView | undefined> => {
      const known = id ?? replays.get(event);
      if (known === undefined) return undefined; // the API names no latest one
      const found = await orNothing(() => read(replayPath(event, known), replayAnswer));
      return (
        found && { ...found, isRunning: found.estado === 'em_andamento', state: found.estado, sent: found.enviadas }
      );
    },
    cancelReplay: async (event: string, id: string): Promise<void> => {
      const path = replayPath(event, id);
      // A DELETE of one that has ended hides it, and is answered alike.
      if ((await read(path, replayAnswer)).estado === wireReplayStates.running) await call('DELETE', path);
      const after = await orNothing(() => read(path, replayAnswer)).catch(() => {
        throw new Error(
          say(
            'It runs no more. Whether it was cancelled or had just ended could not be read.',
            'O reenvio não está mais em andamento. Não foi possível ler se foi cancelado ou se acabara de terminar.',
          ),
        );
      });
      if (after?.estado !== wireReplayStates.cancelled)
        throw new Refusal(say('It has ended: nothing was cancelled.', 'O reenvio já terminou: nada foi cancelado.'));
    },
    reactivate: async (event: string): Promise<void> => void (await call('POST', `${pathOf(event)}/reativacao`)),
    /** Sends a test. Returns the id of its delivery. */
    test: async (event: string): Promise<string> =>
      acceptedAnswer.parse(await call('POST', `${pathOf(event)}/teste`)).id,
    /** Registers a webhook. Returns its signing secret, which cannot be read again. */
    register: async (settings: WebhookSettings): Promise<string> =>
      secretIn(await call('POST', '/v1/webhooks', { evento: settings.event, ...decided(settings) })),
    /** Replaces the URL and the authorization of a webhook: without one, the old one is removed. */
    change: async (settings: WebhookSettings): Promise<void> =>
      void (await call('PUT', pathOf(settings.event), decided(settings))),
    /** Creates a new signing secret and returns it. Former ones sign for a day more, or with `isImmediate` no longer. */
    rotate: async (event: string, isImmediate: boolean): Promise<string> =>
      secretIn(await call('POST', `${pathOf(event)}/segredo`, { imediato: isImmediate })),
    remove: async (event: string): Promise<void> => void (await call('DELETE', pathOf(event))),
  };

  async function readAccount(): Promise<AccountView> {
    const { webhooks, eventos_sem_webhook } = await read('/v1/webhooks', webhooksAnswer);
    return {
      webhooks: webhooks.map(webhookView),
      withoutWebhook: eventos_sem_webhook.map(({ evento, ultimo_em }) => ({ event: evento, lastAt: ultimo_em })),
    };
  }

  async function listDeliveries({ event, state, since, until, cursor, limit }: DeliveryQuery): Promise<DeliveryPage> {
    const given = { estado: state, desde: since, ate: until, cursor, limite: String(limit) };
    const query = new URLSearchParams(Object.entries(given).filter((pair): pair is [string, string] => !!pair[1]));
    const page = await orNothing(() => read(`${pathOf(event)}/entregas?${query}`, deliveriesAnswer));
    return {
      deliveries: (page?.entregas ?? []).map(row => deliveryRow(event, row)),
      next: page?.proximo_cursor ?? null,
    };
  }

  /** Reads pages of 100. Returns the moment back to which all were read, where the calls, or the API, do not reach the end; and why not. */
  async function readPages(query: Omit<DeliveryQuery, 'limit'>, calls: number, each: (row: DeliveryRow) => void) {
    let cursor: string | undefined;
    let reached: string | undefined;
    let unread: unknown;
    for (let made = 0; made < calls; made++) {
      const page = await listDeliveries({ ...query, cursor, limit: 100 }).catch(error => {
        if (made === 0) throw error;
        unread = error;
      });
      if (!page) break;
      for (const row of page.deliveries) each(row);
      if (page.next === null) return { reached: undefined };
      cursor = page.next;
      reached = page.deliveries.at(-1)?.createdAt ?? reached;
    }
    return { reached: Date.parse(reached ?? query.until ?? ''), unread };
  }

  async function find(reference: DeliveryReference): Promise<DeliveryView | undefined> {
    const detail = await orNothing(() => read(deliveryPath(reference), deliveryAnswer));
    return (
      detail && {
        ...deliveryRow(reference.event, { ...detail, tentativas: detail.tentativas.at(-1)?.numero ?? 0 }),
        made: detail.tentativas.map(attemptView),
        body: detail.corpo,
      }
    );
  }

  function deliveryPath({ event, id }: DeliveryReference): string {
    return `${pathOf(event)}/entregas/${stepOf(id)}`;
  }

  /** GETs what a schema describes. @throws what {@link call} throws, and an `Error` where the answer does not fit the schema. */
  async function read<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.infer<Schema>> {
    return fitting(schema, await call('GET', path), `GET ${path}`);
  }

  function secretIn(answer: unknown): string {
    return fitting(secretAnswer, answer, 'POST').segredo;
  }

  /** Reads an answer. The error names the place that does not fit, never a value. */
  function fitting<Schema extends z.ZodType>(schema: Schema, answer: unknown, what: string): z.infer<Schema> {
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new Error(`${what}: ${issue?.path.join('.')}: ${issue?.message}`);
  }

  async function call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await session.call(method, path, { body, language }).catch(error => {
      throw inThisLanguage(error);
    });
    // The header names a replay that was started, or the one that is running already.
    const location = answer.headers.get('location') ?? '';
    const [, event, replay] = /\/webhooks\/([^/]+)\/reenvios\/([^/]+)$/.exec(location) ?? [];
    if (event !== undefined && replay !== undefined) replays.set(event, replay);
    if (answer.status < 300) return answer.json ?? {};
    throw refusalOf(answer);
  }

  /** Returns an error that says why there is no answer. */
  function inThisLanguage(error: unknown): unknown {
    if (error instanceof SessionEnded) {
      return new Refusal(
        say(
          'Your session has ended: end the panel with Ctrl-C, start it again and log in.',
          'A sua sessão terminou: encerre o painel com Ctrl-C, inicie-o de novo e entre.',
        ),
      );
    }
    if (!(error instanceof NoAnswer)) return error;
    const code = error.code && ` (${error.code})`;
    return new Error(say(`${host} does not answer.${code}`, `${host} não responde.${code}`));
  }

  /** Says a refusal as the API says it, with each finding, and when it can be tried again. */
  function refusalOf({ status, headers, json }: Answer): Error {
    const isBusy = status === 429 || status === 503; // of a gateway, which gives no detail
    const unsaid = isBusy
      ? say(
          `${host} is busy. It can be tried again in a moment.`,
          `${host} está sobrecarregado. Pode ser repetido em instantes.`,
        )
      : `HTTP ${status}`;
    const { detail = unsaid, requisicao, errors = [] } = problemAnswer.parse(json);
    const found = errors.map(({ pointer, parameter, detail: why = '' }): [string, string] => [
      parameter ?? pointer?.replace(/^\//, '') ?? '',
      why,
    ]);
    const seconds = headers.get('retry-after');
    const message = [
      detail,
      ...found.map(([place, why]) => `${place}: ${why}`),
      seconds && say(`It can be tried again in ${seconds} s.`, `Pode ser repetido em ${seconds} s.`),
      requisicao && `(${requisicao})`,
    ];
    const said = message.filter(part => part).join(' ');
    if (status === 404) return new NotThere(said);
    return status < 500 ? new Refusal(said, Object.fromEntries(found)) : new Error(said);
  }

  function webhookView(record: z.infer<typeof webhookAnswer>): WebhookView {
    const { evento, url, estado, motivo_suspensao, criado_em, atualizado_em, autorizacao_definida } = record;
    return {
      event: evento,
      url,
      status: estado,
      reason: motivo_suspensao,
      failingSince: record.falhando_desde,
      slowSince: record.lento_desde,
      createdAt: criado_em,
      updatedAt: atualizado_em,
      hasAuthorization: autorizacao_definida,
      formerSecretsUntil: record.segredos_anteriores.map(({ valido_ate }) => valido_ate),
    };
  }
}

/** The latest deliveries that are read with their attempts, a call each: a page of a webhook makes 45 calls at most. */
const details = 15;

/** The calls that a tally may make, and those of a question. */
const [callsOfTally, callsOfQuestion] = [24, 8];

const groups: Readonly<Record<string, TallyGroup | undefined>> = { entregue: 'delivered', falhou: 'failed' };

/** The latest replay of each event that a session knows of. */
const replaysOf = new WeakMap<object, Map<string, string>>();

function replayPath(event: string, id: string): string {
  return `${pathOf(event)}/reenvios/${stepOf(id)}`;
}

function pathOf(event: string): string {
  return `/v1/webhooks/${stepOf(event)}`;
}

/** Returns a name as a step of a path. No encoding keeps `..` from leading to what stands above: from a replay to its webhook. */
function stepOf(name: string): string {
  if (/^\.{0,2}$/.test(name)) throw new NotThere(`There is nothing named "${name}".`);
  return encodeURIComponent(name);
}

/** An authorization that is left out is none. */
function decided({ url, authorization }: WebhookSettings) {
  return { url, ...(authorization !== undefined && { autorizacao: authorization }) };
}

async function orNothing<Value>(reading: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading();
  } catch (error) {
    if (error instanceof NotThere) return undefined;
    throw error;
  }
}
