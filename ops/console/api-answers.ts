import * as z from 'zod';

// The answers of the API, as far as pages show them. Words are open: a later release may have others than this program knows.

const textOrNull = z.string().nullable();

export const webhookAnswer = z.object({
  evento: z.string(),
  url: z.string(),
  estado: z.string(),
  motivo_suspensao: textOrNull,
  falhando_desde: textOrNull,
  lento_desde: textOrNull,
  criado_em: z.string(),
  atualizado_em: z.string(),
  autorizacao_definida: z.boolean(),
  segredos_anteriores: z.array(z.object({ valido_ate: z.string() })),
});

export const webhooksAnswer = z.object({
  webhooks: z.array(webhookAnswer),
  eventos_sem_webhook: z.array(z.object({ evento: z.string(), ultimo_em: z.string() })),
});

/** The answer to a registration or a rotation: the only one that shows the secret. */
export const secretAnswer = z.object({ segredo: z.string() });

/** A refusal, as far as pages say it; a gateway's own has none of these. */
export const problemAnswer = z
  .object({
    detail: z.string(),
    requisicao: z.string(),
    errors: z.array(z.object({ pointer: z.string(), parameter: z.string(), detail: z.string() }).partial()),
  })
  .partial()
  .catch({});

const deliveryRecord = z.object({
  id: z.string(),
  estado: z.string(),
  criado_em: z.string(),
  proxima_tentativa_em: textOrNull,
  tentativas: z.number(),
  ultimo_resultado: textOrNull,
  ultimo_status: z.number().nullable(),
});

/** A delivery as the API lists it. */
export type DeliveryRecord = z.infer<typeof deliveryRecord>;

export const deliveriesAnswer = z.object({ entregas: z.array(deliveryRecord), proximo_cursor: textOrNull });

const attemptRecord = z.object({
  numero: z.number(),
  iniciada_em: z.string(),
  duracao_ms: z.number(),
  resultado: z.string(),
  detalhe: textOrNull,
  status: z.number().nullable(),
  resposta: textOrNull,
});

export type AttemptRecord = z.infer<typeof attemptRecord>;

export const deliveryAnswer = deliveryRecord.extend({ tentativas: z.array(attemptRecord), corpo: z.string() });

/** The answer to a test or a replay that was accepted. */
export const acceptedAnswer = z.object({ id: z.string() });

export const replayAnswer = z.object({ id: z.string(), estado: z.string(), enviadas: z.number() });
