import { createServer } from 'node:http';
import { listen } from '../../tools/support/listen.ts';

/** An unknown event, and an event with an additional field. */
export const laterEvents = {
  UNKNOWN_EVENT: JSON.stringify({
    event: 'pagamento.confirmado',
    id_pagamento: 7,
    link: 'https://demandas.example.com/p/7',
  }),
  GROWN_EVENT: JSON.stringify({
    event: 'proposta.recebida',
    id_proposta: 20,
    id_demanda: 10,
    link: 'https://demandas.example.com/propostas/10/20',
    valor: { centavos: 1990 },
  }),
} as const;

/**
 * Starts a server with the responses of a possible later version of the service. They contain unknown fields, states, codes and
 * events.
 */
export async function startLaterService(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume();
    const { status, body } = laterResponse(request.method ?? '', new URL(request.url ?? '', 'http://h').pathname);
    const type = status < 400 ? 'application/json' : 'application/problem+json';
    request.on('end', () => response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body)));
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, stop: () => new Promise(resolve => server.close(() => resolve())) };
}

interface LaterResponse {
  readonly status: number;
  readonly body: object;
}

function laterResponse(method: string, path: string): LaterResponse {
  const ok = ok200[path];
  if (ok) return { status: 200, body: ok };
  const problem = { type: 'about:blank', title: 'T', detail: 'D', requisicao: 'r', novo_campo: [1] };
  if (method === 'GET') return { status: 404, body: { ...problem, status: 404, code: 'novo_codigo' } };
  const errors = [{ pointer: '/url', code: 'nova_regra', detail: 'D', novo_campo: 1 }];
  return { status: 422, body: { ...problem, status: 422, code: 'validation_failed', errors } };
}

const time = '2026-11-20T13:24:50.601Z';

const ok200: Readonly<Record<string, object>> = {
  '/oauth/v1/token': { access_token: 'x', token_type: 'DPoP', expires_in: 900, refresh_token: 'r', novo_campo: {} },
  '/oauth/v1/introspect': { active: true, client_id: 'c', token_type: 'DPoP', exp: 4_102_444_800, novo_campo: [true] },
  '/v1/webhooks': {
    webhooks: [
      {
        evento: 'pagamento.confirmado',
        url: 'https://hooks.example.com/emissor',
        autorizacao_definida: false,
        estado: 'arquivado',
        motivo_suspensao: 'novo',
        falhando_desde: time,
        lento_desde: null,
        segredos_anteriores: [{ valido_ate: time, novo_campo: 1 }],
        criado_em: time,
        atualizado_em: time,
        novo_campo: { dentro: [null] },
      },
    ],
    eventos_sem_webhook: [{ evento: 'pagamento.confirmado', ultimo_em: time, novo_campo: 1 }],
    novo_campo: null,
  },
  '/v1/webhooks/proposta.recebida/entregas': {
    entregas: [
      {
        id: `evt_${'a'.repeat(27)}`,
        estado: 'adiada',
        criado_em: time,
        proxima_tentativa_em: time,
        tentativas: 1,
        ultimo_resultado: 'http3',
        ultimo_status: 299,
        novo_campo: 'x',
      },
    ],
    proximo_cursor: null,
    novo_campo: 1,
  },
};
