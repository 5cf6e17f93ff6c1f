import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { exampleBody } from './event-schemas.ts';

/* Values that several examples share. */

/** The secret in examples. No webhook uses it. */
export const segredo = 'whsec_163Fd+W5bPf1ikojOPHYw3vZfUuPVn31jvO4VmC32HU=';

export const webhook = {
  evento: 'proposta.recebida',
  url: 'https://hooks.example.com/emissor',
  autorizacao_definida: true,
  estado: 'ativo',
  motivo_suspensao: null,
  falhando_desde: null,
  lento_desde: null,
  segredos_anteriores: [],
  criado_em: '2026-11-20T13:24:50.601Z',
  atualizado_em: '2026-11-20T13:24:50.601Z',
};

/** An event for which the account has no webhook. */
export const eventWithoutWebhook = { evento: 'mensagem.recebida', ultimo_em: '2026-11-20T11:02:17.204Z' };

/** A delivery in a list. */
export const delivery = {
  id: 'evt_9X_mdX4siXAultLQKJ__GcYg8ys',
  estado: 'entregue',
  criado_em: '2026-11-20T13:24:51.101Z',
  proxima_tentativa_em: null,
  tentativas: 1,
  ultimo_resultado: 'entregue',
  ultimo_status: 200,
};

/** The delivery with its attempts. */
export const deliveryDetail = {
  ...delivery,
  corpo: JSON.stringify(exampleBody(businessEvents, 'proposta.recebida')),
  tentativas: [
    {
      numero: 1,
      iniciada_em: '2026-11-20T13:24:51.201Z',
      duracao_ms: 85,
      resultado: 'entregue',
      detalhe: null,
      status: 200,
      resposta: '',
    },
  ],
};

export const replay = { id: 'reenvio_0Unh6M0hDjFlJnzs0eQZsx', estado: 'em_andamento', enviadas: 50 };
