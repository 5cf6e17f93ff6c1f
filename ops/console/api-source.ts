import type * as z from 'zod';
import { type Answer, UnexpectedAnswer } from '../../lambdas/smoke/service-client.ts';
import {
  deliveriesAnswer,
  deliveryAnswer,
  problemAnswer,
  secretAnswer,
  webhookAnswer,
  webhooksAnswer,
} from './api-answers.ts';
import { type ApiSession, SessionEnded } from './api-session.ts';
import type { Source } from './source.ts';
import { type Language, sayingIn } from './texts.ts';
import {
  type AccountView,
  attemptView,
  type DeliveryReference,
  type DeliveryView,
  deliveryRow,
  NotThere,
  Refusal,
  type WebhookSettings,
  type WebhookView,
} from './views.ts';

/**
 * Makes the source of an integrator's pages: the public API, with the session of one login. It sees its account because the API
 * shows no other.
 */
export function makeApiSource(session: ApiSession, language: Language): Source {
  const { account, mayChange, host, isLocal } = session;
  const say = sayingIn(language);
  return {
    label: host,
    refreshSeconds: isLocal ? 5 : 60,
    mayChange,
    account,
    readAccount,
    login: session.login,
    listWebhooks: async asked => {
      requireOwn(asked);
      return (await readAccount()).webhooks;
    },
    findWebhook: async (asked, event) => {
      requireOwn(asked);
      const record = await orNothing(read(pathOf(event), webhookAnswer));
      return record && webhookView(record);
    },
    listDeliveries: async ({ account: asked, event, state, since, until, cursor, limit }) => {
      requireOwn(asked);
      const given = { estado: state, desde: since, ate: until, cursor, limite: String(limit) };
      const query = new URLSearchParams(Object.entries(given).filter((pair): pair is [string, string] => !!pair[1]));
      const page = await orNothing(read(`${pathOf(event)}/entregas?${query}`, deliveriesAnswer));
      return {
        deliveries: (page?.entregas ?? []).map(row => deliveryRow({ account, event }, row)),
        next: page?.proximo_cursor ?? null,
      };
    },
    latestDeliveries: async (asked, event) => {
      requireOwn(asked);
      const page = await orNothing(read(`${pathOf(event)}/entregas?limite=${details}`, deliveriesAnswer));
      const rows = (page?.entregas ?? []).map(row => deliveryRow({ account, event }, row));
      const found = await Promise.allSettled(rows.map(find));
      const failures = found.filter(one => one.status === 'rejected');
      const [failed] = failures;
      return {
        deliveries: rows.flatMap((row, at) => {
          const one = found[at];
          if (one?.status !== 'fulfilled') return [{ ...row, made: [] }];
          return one.value ? [one.value] : []; // it has left the history meanwhile
        }),
        next: page?.proximo_cursor ?? null,
        unread: failed && { count: failures.length, why: messageOf(failed.reason) },
      };
    },
    findDelivery: find,
    readBody: async reference => (await read(deliveryPath(reference), deliveryAnswer)).corpo,
    resend: async reference => void (await call('POST', `${deliveryPath(reference)}/reenvio`)),
    replay: async ({ account: asked, event, state, since, until }) => {
      requireOwn(asked);
      await call('POST', `${pathOf(event)}/reenvios`, { estado: state, desde: since, ate: until });
    },
    reactivate: async (asked, event) => {
      requireOwn(asked);
      await call('POST', `${pathOf(event)}/reativacao`);
    },
    test: async (asked, event) => {
      requireOwn(asked);
      await call('POST', `${pathOf(event)}/teste`);
    },
    register: async settings => {
      requireOwn(settings.account);
      const body = { evento: settings.event, ...decided(settings) };
      return secretIn(await call('POST', '/v1/webhooks', body));
    },
    change: async settings => {
      requireOwn(settings.account);
      await call('PUT', pathOf(settings.event), decided(settings));
    },
    rotate: async (asked, event, isImmediate) => {
      requireOwn(asked);
      return secretIn(await call('POST', `${pathOf(event)}/segredo`, { imediato: isImmediate }));
    },
    remove: async (asked, event) => {
      requireOwn(asked);
      await call('DELETE', pathOf(event));
    },
  };

  async function readAccount(): Promise<AccountView> {
    const { webhooks, eventos_sem_webhook } = await read('/v1/webhooks', webhooksAnswer);
    return {
      webhooks: webhooks.map(webhookView),
      withoutWebhook: eventos_sem_webhook.map(({ evento, ultimo_em }) => ({ event: evento, lastAt: ultimo_em })),
    };
  }

  async function find(reference: DeliveryReference): Promise<DeliveryView | undefined> {
    const detail = await orNothing(read(deliveryPath(reference), deliveryAnswer));
    return (
      detail && {
        ...deliveryRow(reference, { ...detail, tentativas: detail.tentativas.at(-1)?.numero ?? 0 }),
        made: detail.tentativas.map(attemptView),
      }
    );
  }

  function deliveryPath({ account: asked, event, id }: DeliveryReference): string {
    requireOwn(asked);
    return `${pathOf(event)}/entregas/${encodeURIComponent(id)}`;
  }

  /** The API knows one account only: another one in the address of a page would show what is not its own. */
  function requireOwn(asked: string): void {
    if (asked !== account) throw new Refusal(say('This is not your account.', 'Esta conta não é a sua.'));
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
    const request = { body, headers: { 'accept-language': language } };
    const answer = await session.call(method, path, request).catch(error => {
      throw inThisLanguage(error);
    });
    if (answer.status < 300) return answer.json ?? {};
    throw refusalOf(answer);
  }

  /** Says why there is no answer. */
  function inThisLanguage(error: unknown): unknown {
    if (error instanceof SessionEnded) {
      return new Refusal(
        say(
          'Your session has ended: end the panel with Ctrl-C, start it again and log in.',
          'A sua sessão terminou: encerre o painel com Ctrl-C, inicie-o de novo e entre.',
        ),
      );
    }
    if (!(error instanceof UnexpectedAnswer)) return error;
    const [code = ''] = /\([A-Z0-9_]+\)/.exec(error.message) ?? [];
    return new Error(say(`${host} does not answer. ${code}`, `${host} não responde. ${code}`).trim());
  }

  /** Says a refusal as the API says it, with each finding, and when it can be tried again. */
  function refusalOf({ status, headers, json }: Answer): Error {
    const { detail = `HTTP ${status}`, requisicao, errors = [] } = problemAnswer.parse(json);
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
      account,
      event: evento,
      address: url,
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

/** The latest deliveries that are read with their attempts, a call each: a page of a webhook makes 20 calls at most. */
const details = 15;

function pathOf(event: string): string {
  return `/v1/webhooks/${encodeURIComponent(event)}`;
}

/** An authorization that is left out is none. */
function decided({ url, authorization }: WebhookSettings) {
  return { url, ...(authorization !== undefined && { autorizacao: authorization }) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function orNothing<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof NotThere) return undefined;
    throw error;
  }
}
