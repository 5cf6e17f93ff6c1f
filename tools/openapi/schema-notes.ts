import { deliveryIdForm } from '../../lambdas/delivery/delivery.ts';
import { failureCauses } from '../../lambdas/delivery/failure-causes.ts';
import { replayIdForm } from '../../lambdas/delivery/replay/replay.ts';
import { maximumUrlLength } from '../../lambdas/platform/egress/url-rules.ts';
import * as examples from './examples.ts';
import type { FunctionSchemaName, SchemaNote } from './schemas.ts';

const url = {
  description:
    'The destination of deliveries. It must be an `https` URL with port 443 or a port of at least 1024, and without a user name, password or fragment. The host is a public DNS name or a public IPv4 address. All its addresses must be public, and at least one must be IPv4.',
  format: 'uri',
  maxLength: maximumUrlLength,
  examples: [examples.webhook.url],
};
const autorizacao = {
  description:
    'The `Authorization` header of each delivery. It consists of 1 to 2,048 visible ASCII characters, and may contain spaces between them. Send only the value, without the prefix `Authorization:`. `null` has the same effect as no value. Responses never contain it.',
  examples: ['Bearer our-own-secret'],
};
const segredo = {
  description: 'The secret that signs deliveries, as in Standard Webhooks. Only this response contains it.',
  pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
  examples: [examples.segredo],
};
const deliveryId = {
  description: 'The id of the delivery, which is also the value of the `webhook-id` header.',
  pattern: deliveryIdForm.source,
  examples: [examples.delivery.id],
};
const estadoOfDelivery = {
  description:
    '`pendente`: The delivery waits for an attempt. `entregue`: The receiver responded with 2xx. `falhou`: All attempts failed, or 10 days have passed. `retida`: The webhook is suspended. Reactivate it, then start a replay. `cancelada`: The registration ended before the delivery was sent, or the delivery is a test and an operator suspended the webhook.',
};
const resultado = {
  description:
    '`entregue`: The receiver responded with 2xx. `http`: It responded with another status. `tempo_esgotado`: It did not send complete headers in time. `conexao`, `tls`, `dns`: The service could not reach the receiver. See `detalhe`. `bloqueada`: The URL or an address of its host is not allowed. `lenta`: The service ended the attempt early and repeated it immediately. `interno`: The service has an internal error, and the attempt does not count.',
};
const detalhe = {
  description: [
    'The reason why the attempt failed, or `null` if only `resultado` is known.',
    ...Object.values(failureCauses).map(({ word, en }) => `\`${word}\`: ${en}`),
  ].join(' '),
};
const webhook = {
  evento: { description: 'The event that the webhook receives.' },
  url: { description: 'The destination of deliveries.', format: 'uri' },
  autorizacao_definida: { description: 'True if an `autorizacao` is registered.' },
  estado: { description: '`ativo`: The service sends events. `suspenso`: The service holds events.' },
  motivo_suspensao: {
    description:
      'The reason for the suspension. `gone`: The receiver responded with 410. `sem_sucesso`: A delivery exhausted its attempts, or waited 10 days in the queue of slow receivers, and no delivery had succeeded for five days. `operador`: An operator suspended the webhook. Only an operator can reactivate it.',
  },
  falhando_desde: {
    description:
      'The time of the first failed attempt since the latest registration, new URL, reactivation or success. A 410 is also a failure. The value is `null` if no attempt failed.',
  },
  lento_desde: {
    description:
      'The time at which this event moved to the lane for slow receivers. The lane depends on the account and the event, so the time may be before `criado_em`.',
  },
  segredos_anteriores: { description: 'The replaced secrets that still sign, latest first. There are at most four.' },
};
const delivery = {
  id: deliveryId,
  estado: estadoOfDelivery,
  criado_em: { description: 'The time at which the service accepted the event.' },
  proxima_tentativa_em: { description: 'The time of the next attempt, or `null` if there is none.' },
  ultimo_resultado: { description: 'The result of the latest attempt, or `null` before the first attempt.' },
  ultimo_status: { description: 'The status code of the latest attempt, or `null` without a response.' },
};
const range = {
  desde: { format: 'date-time', pattern: undefined, description: 'The start of the acceptance period, inclusive.' },
  ate: {
    format: 'date-time',
    pattern: undefined,
    description: 'The end of the acceptance period, exclusive.',
  },
};
const problem = {
  type: { description: 'The page that explains `code`, or `about:blank`.', format: 'uri' },
  title: { description: 'The meaning of `status`.' },
  detail: { description: 'The problem and its solution.' },
  code: { description: 'The code of the error. Each operation lists its codes. Future versions may add codes.' },
  requisicao: {
    description: 'The request id, for support. The header `apigw-requestid` also contains it.',
    examples: ['AbCdEfGhIjKlMnO='],
  },
};

/** The descriptions of the functions' schemas, and rules that zod cannot express. */
export const notes = {
  EventName: { description: 'The name of an event.' },
  WebhookRegistration: { properties: { url, autorizacao } },
  WebhookReplacement: {
    description: 'The complete new registration. It removes `autorizacao` if the request omits it.',
    properties: { url, autorizacao },
  },
  SecretRotation: {
    properties: { imediato: { description: 'True to revoke the replaced secrets now instead of after 24 hours.' } },
  },
  ReplayRequest: {
    properties: { ...range, estado: { description: 'The state of the deliveries to send again.' } },
  },
  ReplacedSecret: {
    description: 'A replaced signing secret that still signs.',
    properties: { valido_ate: { description: 'The time at which it stops signing.' } },
  },
  Webhook: { description: 'A webhook. It never contains `autorizacao` or a secret.', properties: webhook },
  RegisteredWebhook: { description: 'A new webhook, with its signing secret.', properties: { ...webhook, segredo } },
  WebhookList: {
    properties: {
      webhooks: { description: 'The webhooks, sorted by `evento`. There is at most one for each event.' },
      eventos_sem_webhook: {
        description: 'The events that arrived within the last 30 days and have no webhook, sorted by `evento`.',
      },
    },
  },
  EventWithoutWebhook: {
    description: 'An event that arrived recently and has no webhook.',
    properties: {
      evento: { description: 'The name of the event.' },
      ultimo_em: {
        description: 'The time at which the service last dropped the event, accurate to the hour.',
      },
    },
  },
  SigningSecret: { properties: { segredo } },
  Delivery: {
    description: 'A delivery in a list.',
    properties: { ...delivery, tentativas: { description: 'The number of attempts.' } },
  },
  DeliveryDetail: {
    description: 'A delivery, with its body and its latest 30 attempts.',
    properties: {
      ...delivery,
      corpo: { description: 'The body that is sent and signed, as text.' },
      tentativas: {
        description: 'The latest 30 attempts, oldest first.',
      },
    },
  },
  Attempt: {
    description: 'A delivery attempt. It is a POST, or the reason why the service did not send one.',
    properties: {
      numero: { description: 'The number of the attempt. The first attempt is 1.' },
      iniciada_em: { description: 'The start of the attempt.' },
      duracao_ms: { description: 'The duration in milliseconds.' },
      resultado,
      detalhe,
      status: { description: 'The status code of the response, or `null` without a response.' },
      resposta: {
        description:
          'The first 1,024 bytes of the response, decoded with the declared charset or UTF-8. For a compressed response, only the encoding and the size, such as `[gzip, 512 bytes]` or `[gzip, over 1024 bytes]`. `***` replaces the value of `autorizacao`. The value is `null` without a response, or after 60 days.',
      },
    },
  },
  DeliveryPage: {
    properties: {
      entregas: { description: 'The deliveries. There may be fewer than `limite`, even if a next page exists.' },
      proximo_cursor: { description: 'The `cursor` of the next page, or `null` on the last page.' },
    },
  },
  AcceptedDelivery: { properties: { id: deliveryId } },
  Replay: {
    properties: {
      estado: {
        description:
          '`em_andamento`: The replay is running. `concluido`: It is complete. `cancelado`: It is cancelled.',
      },
      id: { pattern: replayIdForm.source, examples: [examples.replay.id] },
      enviadas: { description: 'The number of deliveries that the replay has queued.' },
    },
  },
  Problem: {
    description:
      'The reason why the service rejected a request (RFC 9457). `code` is for programs, and `detail` is for people.',
    properties: problem,
  },
  ValidationProblem: {
    description: 'The reason why the service rejected a request, with all problems in the request.',
    properties: { ...problem, errors: { description: 'All problems in the request.', minItems: 1 } },
  },
  Finding: {
    description: 'A problem in a request.',
    properties: {
      pointer: { description: 'The location in the body, as a JSON Pointer (RFC 6901). The body itself is `""`.' },
      parameter: { description: 'The query parameter. It replaces `pointer`.' },
      code: { description: 'The code of the problem.' },
      detail: { description: 'The problem with the value, and its solution.' },
    },
  },
  TokenResponse: {
    properties: {
      access_token: { description: 'A JWT (RFC 9068), for `Authorization: Bearer`.' },
      expires_in: { description: 'The lifetime of the access token, in seconds.', minimum: 1 },
      refresh_token: { description: 'A single-use token for the refresh grant, if the client has that grant.' },
      scope: { description: 'The scopes of the access token, if it has any, separated by spaces.' },
    },
  },
  Revocation: { description: 'An empty response (RFC 7009).' },
  Introspection: {
    description: 'The properties of a token (RFC 7662). An inactive token has only `active`.',
    properties: { active: { description: 'True if the token is active.' } },
  },
  ServerMetadata: { description: 'Authorization server metadata (RFC 8414).' },
  PublicKey: {
    description:
      'A public key (RFC 7518 section 6). A key of type `EC` has `crv`, `x` and `y`. A key of type `RSA` has `n` and `e`.',
  },
  KeySet: { description: 'The public keys that verify access tokens (RFC 7517).' },
  ProtectedResourceMetadata: { description: 'Protected resource metadata (RFC 9728).' },
  OAuthError: {
    description: 'The reason why the service rejected a request (RFC 6749 section 5.2).',
    properties: {
      error: { description: 'The code of the error. Each operation lists its codes. Future versions may add codes.' },
      error_description: { description: 'A description of the problem, in ASCII.' },
    },
  },
} as const satisfies Partial<Record<FunctionSchemaName, SchemaNote>>;
