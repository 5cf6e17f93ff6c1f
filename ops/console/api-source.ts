import type * as z from 'zod';
import { deliveriesAnswer, deliveryAnswer, webhookAnswer, webhooksAnswer } from './api-answers.ts';
import type { ApiSession } from './api-session.ts';
import type { Source } from './source.ts';
import type { Language } from './texts.ts';
import {
  attemptView,
  type DeliveryReference,
  type DeliveryView,
  deliveryRow,
  Refusal,
  type WebhookView,
} from './views.ts';

/**
 * Makes the source of an integrator's pages: the public API, with the session of one login. It sees its account because the API
 * shows no other.
 */
export function makeApiSource(session: ApiSession, language: Language): Source {
  const { account, mayChange, host, isLocal } = session;
  return {
    label: host,
    refreshSeconds: isLocal ? 5 : 60,
    mayChange,
    account,
    listWebhooks: async asked => {
      requireOwn(asked);
      const { webhooks } = await read('/v1/webhooks', webhooksAnswer);
      return webhooks.map(webhookView);
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
      const views = await Promise.all((page?.entregas ?? []).map(({ id }) => find({ account, event, id })));
      return { deliveries: views.filter(view => view !== undefined), next: page?.proximo_cursor ?? null };
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
  };

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
    if (asked !== account)
      throw new Refusal(language === 'pt' ? 'Esta conta não é a sua.' : 'This is not your account.');
  }

  /** GETs what a schema describes. @throws what {@link call} throws, and an `Error` where the answer does not fit the schema. */
  async function read<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.infer<Schema>> {
    const parsed = schema.safeParse(await call('GET', path));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new Error(`GET ${path}: ${issue?.path.join('.')}: ${issue?.message}`);
  }

  async function call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const { status, json } = await session.call(method, path, { body, headers: { 'accept-language': language } });
    if (status < 300) return json ?? {};
    if (status === 404) throw new NotThere(String(json?.detail ?? status));
    const message = `${String(json?.detail ?? status)}${typeof json?.requisicao === 'string' ? ` (${json.requisicao})` : ''}`;
    throw status < 500 ? new Refusal(message) : new Error(message);
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
    };
  }
}

/** The latest deliveries that are read with their attempts, a call each: a page of a webhook makes 20 calls at most. */
const details = 15;

function pathOf(event: string): string {
  return `/v1/webhooks/${encodeURIComponent(event)}`;
}

class NotThere extends Refusal {}

async function orNothing<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof NotThere) return undefined;
    throw error;
  }
}
