import { Webhook as StandardWebhook } from 'standardwebhooks';
import { parseEventMessage } from '../../../lambdas/delivery/intake/event.ts';
import { systemTime } from '../../../lambdas/platform/timer.ts';
import { makeReceipt } from '../../../lambdas/smoke/receiver.ts';
import type { SmokeEffects } from '../../../lambdas/smoke/smoke-test.ts';
import type { EventName } from '../../../lambdas/webhooks/webhook.ts';

/** Secrets of a test: none may be found in what it shows. */
export const secrets = {
  clientSecret: 'canary-client-secret',
  password: 'canary-password',
  accessToken: 'canary-access-token',
  refreshToken: 'canary-refresh-token',
  key: 'Bearer canary-key',
  signing: `whsec_${Buffer.from('canary-signing-secret-32-bytes..').toString('base64')}`,
};

/** A call that a test makes, as `METHOD /path`, `publish`, `open`, `makeKey` or `removeLeftOvers`. */
type Call = string;

/** Returns what happens at a call instead of the usual. */
export type Script = (call: Call) => { status: number; body?: unknown } | Error | undefined;

/** The receiver's treatment of a delivery. */
export interface Behaviour {
  /** State and result of the delivery after its first attempt. */
  readonly delivery?: { readonly estado: string; readonly resultado: string; readonly status: number | null };
  /** Returns the text that is stored of the receiver's answer. */
  readonly answer?: (receipt: ReturnType<typeof makeReceipt>) => string;
  /** Nothing takes the message from the queue. */
  readonly isStuck?: boolean;
  /** The body that is sent instead of the event's. */
  readonly corpo?: string;
}

interface Registered {
  readonly evento: EventName;
  readonly url: string;
  readonly autorizacao: string;
  readonly criado_em: string;
  readonly estado: 'ativo' | 'suspenso';
}

/** Makes a service in memory, as a smoke test sees it, and the effects of a test against it. */
export function makeFakeService({
  script = () => undefined,
  behaviour = {},
}: {
  script?: Script;
  behaviour?: Behaviour;
} = {}) {
  const now = Date.UTC(2026, 10, 22, 3);
  const webhooks = new Map<EventName, Registered>();
  const deliveries = new Map<string, unknown>();
  const calls: Call[] = [];
  const shown: string[] = [];
  const state = { opened: 0, closed: 0, sessions: 0, registersSuspended: false };
  let after: (call: Call) => void = () => undefined;

  /** Notes a call and does what the script says. What follows a call happens when it took effect, and its answer is on its way. */
  const perform = async <Value>(call: Call, usual: () => Value): Promise<Value> => {
    calls.push(call);
    const scripted = script(call);
    if (scripted instanceof Error) throw scripted;
    const value = usual();
    after(call);
    return value;
  };

  const answer = (status: number, body?: unknown) =>
    new Response(status === 204 ? null : JSON.stringify(body ?? {}), { status });

  const respond = (method: string, path: string, sent: unknown): Response => {
    const [, evento, id] = /^\/v1\/webhooks\/([\w.]+)(?:\/entregas\/(.+))?$/.exec(path) ?? [];
    if (path === '/oauth/v1/token') {
      state.sessions += 1;
      return answer(200, { access_token: secrets.accessToken, refresh_token: secrets.refreshToken });
    }
    if (path === '/oauth/v1/revoke') {
      state.sessions -= 1;
      return answer(200);
    }
    if (id !== undefined) return deliveries.has(id) ? answer(200, deliveries.get(id)) : answer(404);
    if (method === 'DELETE') return answer(webhooks.delete(evento as EventName) ? 204 : 404);
    if (method === 'GET')
      return answer(200, { webhooks: [...webhooks.values()].map(recordOf), eventos_sem_webhook: [] });
    const webhook = sent as Registered;
    if (webhooks.has(webhook.evento)) return answer(409, { code: 'webhook_exists' });
    const stored = { ...webhook, criado_em: new Date(now).toISOString(), estado: newState() };
    webhooks.set(webhook.evento, stored);
    return answer(201, { ...recordOf(stored), segredo: secrets.signing });
  };

  const newState = (): Registered['estado'] => (state.registersSuspended ? 'suspenso' : 'ativo');

  const deliver = (message: string) => {
    const parsed = parseEventMessage(message, 'message-id', 'https://demandas.example.com');
    if (parsed.outcome !== 'event' || behaviour.isStuck) return;
    const { deliveryId, eventName, body: usual } = parsed.event;
    const body = behaviour.corpo ?? usual;
    const webhook = webhooks.get(eventName);
    if (!webhook) return;
    const at = new Date(now + 1_000);
    const headers = {
      'webhook-id': deliveryId,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new StandardWebhook(secrets.signing).sign(deliveryId, at, body),
      authorization: webhook.autorizacao,
    };
    const receipt = makeReceipt(headers, Buffer.from(body));
    const { estado, resultado, status } = behaviour.delivery ?? {
      estado: 'entregue',
      resultado: 'entregue',
      status: 200,
    };
    deliveries.set(deliveryId, {
      id: deliveryId,
      estado,
      criado_em: at.toISOString(),
      proxima_tentativa_em: null,
      ultimo_resultado: resultado,
      ultimo_status: status,
      corpo: body,
      tentativas: [
        {
          numero: 1,
          iniciada_em: at.toISOString(),
          duracao_ms: 12,
          resultado,
          detalhe: null,
          status,
          resposta: behaviour.answer ? behaviour.answer(receipt) : JSON.stringify(receipt),
        },
      ],
    });
  };

  const effects: SmokeEffects = {
    authUrl: 'https://auth.example.com',
    baseUrl: 'https://api.example.com',
    fetch: async (url, request) => {
      request.signal?.throwIfAborted();
      const { pathname } = new URL(url);
      const call = `${request.method} ${pathname.replace(/\/entregas\/.*/, '/entregas/ID')}`;
      const scripted = script(call);
      const response = await perform(call, () =>
        scripted && !(scripted instanceof Error)
          ? answer(scripted.status, scripted.body)
          : respond(request.method ?? '', pathname, parse(request.body)),
      );
      request.signal?.throwIfAborted();
      return response;
    },
    removeLeftOvers: () => perform('removeLeftOvers', () => 'none'),
    identity: {
      open: () =>
        perform('open', () => {
          state.opened += 1;
          const { clientSecret, password } = secrets;
          return { clientId: 'client', clientSecret, username: 'test@smoke.invalid', password };
        }),
      close: async () => {
        state.closed += 1;
      },
    },
    receiver: {
      url: 'https://receiver.example.com/smoke',
      makeKey: () => perform('makeKey', () => secrets.key),
      givesReceipts: true,
    },
    publish: message => perform('publish', () => deliver(message)),
    describeError: error => (error instanceof Error ? error.name : 'unknown'),
    onStep: step => shown.push(JSON.stringify(step)),
    now: () => now,
    elapsed: systemTime.elapsed,
    makeId: length => 'r'.repeat(length),
    after: systemTime.after,
    pause: async (_milliseconds, signal) => {
      after('pause');
      if (signal?.aborted) throw new DOMException('The operation was aborted', 'AbortError');
    },
  };
  return {
    effects,
    webhooks,
    calls,
    /** The steps that `onStep` was called with, as JSON. */
    shown,
    state,
    /** Calls back when a call has taken effect. */
    onCall: (callback: (call: Call) => void) => {
      after = callback;
    },
  };
}

/** Returns a webhook in answers. */
function recordOf({ evento, url, criado_em, estado }: Registered) {
  return {
    evento,
    url,
    autorizacao_definida: true,
    estado,
    motivo_suspensao: estado === 'ativo' ? null : 'operador',
    falhando_desde: null,
    lento_desde: null,
    segredos_anteriores: [],
    criado_em,
    atualizado_em: criado_em,
  };
}

function parse(body: unknown): unknown {
  try {
    return JSON.parse(String(body));
  } catch {
    return undefined;
  }
}
