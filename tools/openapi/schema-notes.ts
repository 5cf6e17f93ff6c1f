import { deliveryIdForm } from '../../lambdas/delivery/delivery.ts';
import { failureCauses } from '../../lambdas/delivery/failure-causes.ts';
import { replayIdForm } from '../../lambdas/delivery/replay/replay.ts';
import { maximumUrlLength } from '../../lambdas/platform/egress/url-rules.ts';
import * as examples from './examples.ts';
import type { FunctionSchemaName, SchemaNote } from './schemas.ts';

const url = {
  description:
    'The destination of deliveries: `https`, port 443 or one from 1024 up, no user name, password or fragment. The host is a public DNS name or a public IPv4 address. All addresses of the host must be public, and at least one must be IPv4.',
  format: 'uri',
  maxLength: maximumUrlLength,
  examples: [examples.webhook.url],
};
const autorizacao = {
  description:
    'The `Authorization` header of each delivery: 1 to 2,048 visible ASCII characters; spaces are allowed between them. Send the value alone, without `Authorization:` before it. `null` counts as absent. Responses never contain it.',
  examples: ['Bearer our-own-secret'],
};
const segredo = {
  description: 'The secret that signs deliveries, as in Standard Webhooks. Only this response contains it.',
  pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
  examples: [examples.segredo],
};
const deliveryId = {
  description: 'The id of the delivery. It is also the `webhook-id` header.',
  pattern: deliveryIdForm.source,
  examples: [examples.delivery.id],
};
const estadoOfDelivery = {
  description:
    '`pendente`: it waits for an attempt. `entregue`: the receiver responded with 2xx. `falhou`: all attempts are used up, or 10 days are over. `retida`: its webhook is suspended; reactivate it, then replay. `cancelada`: its registration ended before it was sent; of a test, also: an operator suspended its webhook.',
};
const resultado = {
  description:
    '`entregue`: 2xx. `http`: another status. `tempo_esgotado`: no complete headers in time. `conexao`, `tls`, `dns`: not reached; see `detalhe`. `bloqueada`: the URL or an address of its host is not allowed. `lenta`: ended early, and repeated at once. `interno`: an error of the service, which does not count as an attempt.',
};
const detalhe = {
  description: [
    'The reason why the attempt failed; `null` if only `resultado` is known.',
    ...Object.values(failureCauses).map(({ word, en }) => `\`${word}\`: ${en}`),
  ].join(' '),
};
const webhook = {
  evento: { description: 'The event that the webhook receives.' },
  url: { description: 'The destination of deliveries.', format: 'uri' },
  autorizacao_definida: { description: 'True if an `autorizacao` is registered.' },
  estado: { description: '`ativo`: events are sent. `suspenso`: they are held.' },
  motivo_suspensao: {
    description:
      'The reason for the suspension. `gone`: the receiver responded with 410. `sem_sucesso`: a delivery used up its attempts, or waited 10 days in the queue of slow receivers, and no delivery had succeeded for five days. `operador`: an operator suspended it, and only an operator can reactivate it.',
  },
  falhando_desde: {
    description:
      'The time of the first failed attempt, including a 410, since the registration, a new URL, a reactivation or a success; `null` without one.',
  },
  lento_desde: {
    description:
      'The time since which the attempts of this event use the lane of slow receivers. It belongs to account and event, and may be before `criado_em`.',
  },
  segredos_anteriores: { description: 'The replaced secrets that still sign, latest first. At most four.' },
};
const delivery = {
  id: deliveryId,
  estado: estadoOfDelivery,
  criado_em: { description: 'When the event was accepted.' },
  proxima_tentativa_em: { description: 'When the next attempt is due, if there is one.' },
  ultimo_resultado: { description: 'The result of the latest attempt; `null` before the first.' },
  ultimo_status: { description: 'The status code of the response to the latest attempt, if there was one.' },
};
const range = {
  desde: { format: 'date-time', pattern: undefined, description: 'The start of the period of acceptance.' },
  ate: {
    format: 'date-time',
    pattern: undefined,
    description: 'The end of the period of acceptance, exclusive.',
  },
};
const problem = {
  type: { description: 'The page that explains `code`, or `about:blank`.', format: 'uri' },
  title: { description: 'The meaning of `status`.' },
  detail: { description: 'The problem, and how to correct it.' },
  code: { description: 'The reason. Each operation lists its own by status; others may be added.' },
  requisicao: {
    description: 'The id of the request, as in the header `apigw-requestid`, for support.',
    examples: ['AbCdEfGhIjKlMnO='],
  },
};

/** The document's additions to the schemas of the functions: descriptions, and rules that zod cannot express. */
export const notes = {
  EventName: { description: 'The name of an event.' },
  WebhookRegistration: { properties: { url, autorizacao } },
  WebhookReplacement: {
    description: 'The complete new registration: an omitted `autorizacao` is removed.',
    properties: { url, autorizacao },
  },
  SecretRotation: {
    properties: { imediato: { description: 'True to stop the replaced secrets now instead of after 24 hours.' } },
  },
  ReplayRequest: {
    properties: { ...range, estado: { description: 'The state of the deliveries to send again.' } },
  },
  ReplacedSecret: {
    description: 'A replaced signing secret that still signs.',
    properties: { valido_ate: { description: 'The time until which it signs.' } },
  },
  Webhook: { description: 'A webhook. It never contains `autorizacao` or a secret.', properties: webhook },
  RegisteredWebhook: { description: 'A new webhook, with its signing secret.', properties: { ...webhook, segredo } },
  WebhookList: {
    properties: {
      webhooks: { description: 'At most one for each event, sorted by `evento`.' },
      eventos_sem_webhook: {
        description:
          'The events that arrived without a webhook within 30 days and still have no webhook, sorted by `evento`.',
      },
    },
  },
  EventWithoutWebhook: {
    description: 'An event that arrived without a webhook and still has no webhook.',
    properties: {
      evento: { description: 'The event.' },
      ultimo_em: {
        description:
          'When the event last arrived without a webhook, precise to the hour. It was dropped: only events with a webhook are delivered.',
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
    description: 'An attempt of a delivery: one POST, or the reason why it was not sent.',
    properties: {
      numero: { description: 'The number of the attempt; the first is 1.' },
      iniciada_em: { description: 'When it started.' },
      duracao_ms: { description: 'The duration in milliseconds.' },
      resultado,
      detalhe,
      status: { description: 'The status code of the response, if there was one.' },
      resposta: {
        description:
          'The first 1,024 bytes of the response, as text in its declared charset, or UTF-8. For a compressed response, its encoding and size, such as `[gzip, 512 bytes]`, or `[gzip, over 1024 bytes]` if there is more. The value of `autorizacao` is replaced by `***`. Null without a response, and 60 days after the attempt.',
      },
    },
  },
  DeliveryPage: {
    properties: {
      entregas: { description: 'May contain fewer than `limite`, or be empty, even if there is a next page.' },
      proximo_cursor: { description: 'The `cursor` of the next page; `null` at the end.' },
    },
  },
  AcceptedDelivery: { properties: { id: deliveryId } },
  Replay: {
    properties: {
      estado: {
        description: '`em_andamento`: it is running. `concluido`: it is complete. `cancelado`: it was cancelled.',
      },
      id: { pattern: replayIdForm.source, examples: [examples.replay.id] },
      enviadas: { description: 'The number of deliveries queued for sending.' },
    },
  },
  Problem: {
    description: 'The reason why a request was refused (RFC 9457). `code` is for programs, `detail` for people.',
    properties: problem,
  },
  ValidationProblem: {
    description: 'The reason why a request was refused, with all its problems.',
    properties: { ...problem, errors: { description: 'All problems of the request.', minItems: 1 } },
  },
  Finding: {
    description: 'One problem of a request.',
    properties: {
      pointer: { description: 'The location in the body, as a JSON Pointer (RFC 6901); empty for the body itself.' },
      parameter: { description: 'The query parameter, instead of `pointer`.' },
      code: { description: 'The reason, for programs.' },
      detail: { description: 'The reason, and how to correct it.' },
    },
  },
  TokenResponse: {
    properties: {
      access_token: { description: 'A JWT (RFC 9068), for `Authorization: Bearer`.' },
      expires_in: { description: 'The lifetime of the access token, in seconds.', minimum: 1 },
      refresh_token: { description: 'For the refresh grant. It works once. Absent if the client may not refresh.' },
      scope: { description: 'The scopes of the access token, separated by spaces. Absent if it has no scopes.' },
    },
  },
  Revocation: { description: 'An empty response (RFC 7009).' },
  Introspection: {
    description: 'The properties of a token (RFC 7662); of an inactive one only `active`.',
    properties: { active: { description: 'True if the token works.' } },
  },
  ServerMetadata: { description: 'Authorization server metadata (RFC 8414).' },
  PublicKey: {
    description:
      'A public key (RFC 7518 section 6): one of type `EC` has `crv`, `x` and `y`, one of type `RSA` has `n` and `e`.',
  },
  KeySet: { description: 'The public keys that verify access tokens (RFC 7517).' },
  ProtectedResourceMetadata: { description: 'Protected resource metadata (RFC 9728).' },
  OAuthError: {
    description: 'The reason why a request was refused (RFC 6749 section 5.2).',
    properties: {
      error: { description: 'The reason, for programs. Each operation lists its own by status; others may be added.' },
      error_description: { description: 'The problem, in ASCII.' },
    },
  },
} as const satisfies Partial<Record<FunctionSchemaName, SchemaNote>>;
