import { deliveryIdForm } from '../../lambdas/delivery/delivery.ts';
import { failureCauses } from '../../lambdas/delivery/failure-causes.ts';
import { replayIdForm } from '../../lambdas/delivery/replay/replay.ts';
import { maximumUrlLength } from '../../lambdas/platform/egress/url-rules.ts';
import * as examples from './examples.ts';
import type { FunctionSchemaName, SchemaNote } from './schemas.ts';

const url = {
  description:
    'Where deliveries go: `https`, port 443 or one from 1024 up, no user name, password or fragment. The host is a public DNS name or a public IPv4 address. All addresses of the host must be public, and one of them IPv4.',
  format: 'uri',
  maxLength: maximumUrlLength,
  examples: [examples.webhook.url],
};
const autorizacao = {
  description:
    'The `Authorization` header of each delivery: 1 to 2,048 visible ASCII characters, with spaces between them only. Send the value alone, without `Authorization:` before it. `null` is as good as absent. No answer ever shows it.',
  examples: ['Bearer our-own-secret'],
};
const segredo = {
  description: 'The secret that deliveries are signed with, as in Standard Webhooks. Only this answer shows it.',
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
    '`pendente`: it waits for an attempt. `entregue`: the receiver answered 2xx. `falhou`: all attempts are used up, or 10 days are over. `retida`: its webhook is suspended; reactivate it, then replay. `cancelada`: its registration ended before it was sent; of a test, also: an operator suspended its webhook.',
};
const resultado = {
  description:
    '`entregue`: 2xx. `http`: another status. `tempo_esgotado`: no complete headers in time. `conexao`, `tls`, `dns`: not reached; `detalhe` says why. `bloqueada`: the URL or an address of its host is not allowed. `lenta`: given up early, and repeated at once. `interno`: a fault of the service, not charged.',
};
const detalhe = {
  description: [
    'Why the attempt failed; `null` if nothing is known beyond `resultado`.',
    ...Object.values(failureCauses).map(({ word, en }) => `\`${word}\`: ${en}`),
  ].join(' '),
};
const webhook = {
  evento: { description: 'The event whose deliveries go there.' },
  url: { description: 'Where deliveries go.', format: 'uri' },
  autorizacao_definida: { description: 'Whether an `autorizacao` is registered.' },
  estado: { description: 'Whether events are sent (`ativo`), or held back (`suspenso`).' },
  motivo_suspensao: {
    description:
      'Why it is suspended. `gone`: the receiver answered 410. `sem_sucesso`: a delivery used up its attempts, or waited 10 days in the queue of slow receivers, and nothing had worked for five days. `operador`: an operator did it, and only an operator ends it.',
  },
  falhando_desde: {
    description:
      'The first failed attempt, a 410 too, since the registration, another URL, a reactivation or a success; `null` if there is none.',
  },
  lento_desde: {
    description:
      'Since when the attempts of this event go through the lane of slow receivers. It belongs to account and event, and may be before `criado_em`.',
  },
  segredos_anteriores: { description: 'The replaced secrets that still sign, the latest first. Four at most.' },
};
const delivery = {
  id: deliveryId,
  estado: estadoOfDelivery,
  criado_em: { description: 'When the event was accepted.' },
  proxima_tentativa_em: { description: 'When the next attempt is due, if there is one.' },
  ultimo_resultado: { description: 'The result of the latest attempt; `null` before the first.' },
  ultimo_status: { description: 'The status code that answered the latest attempt, if one did.' },
};
const range = {
  desde: { format: 'date-time', pattern: undefined, description: 'From this time of acceptance on.' },
  ate: {
    format: 'date-time',
    pattern: undefined,
    description: 'Up to this time of acceptance; the time itself is left out.',
  },
};
const problem = {
  type: { description: 'The page that explains `code`, or `about:blank`.', format: 'uri' },
  title: { description: 'What `status` means.' },
  detail: { description: 'What is wrong, and how to correct it.' },
  code: { description: 'The reason. Each operation lists its own by status; others may come.' },
  requisicao: {
    description: 'The id of the request, as in the header `apigw-requestid`: support finds the request by it.',
    examples: ['AbCdEfGhIjKlMnO='],
  },
};

/** The document's additions to the schemas of the functions: descriptions, and rules that zod cannot say. */
export const notes = {
  EventName: { description: 'The name of an event.' },
  WebhookRegistration: { properties: { url, autorizacao } },
  WebhookReplacement: {
    description: 'All of the new registration: an `autorizacao` that is left out is removed.',
    properties: { url, autorizacao },
  },
  SecretRotation: {
    properties: { imediato: { description: 'Whether the replaced secrets stop signing now, and not after 24 hours.' } },
  },
  ReplayRequest: {
    properties: { ...range, estado: { description: 'Which deliveries to send again.' } },
  },
  ReplacedSecret: {
    description: 'A signing secret that was replaced, and signs still.',
    properties: { valido_ate: { description: 'Until when it signs.' } },
  },
  Webhook: { description: 'A webhook. It never shows `autorizacao` or a secret.', properties: webhook },
  RegisteredWebhook: { description: 'A new webhook, with its signing secret.', properties: { ...webhook, segredo } },
  WebhookList: {
    properties: {
      webhooks: { description: 'By `evento`: one for each at most.' },
      eventos_sem_webhook: {
        description: 'The events that came without a webhook within 30 days and have none now, by `evento`.',
      },
    },
  },
  EventWithoutWebhook: {
    description: 'An event that came without a webhook and has none now.',
    properties: {
      evento: { description: 'The event.' },
      ultimo_em: {
        description:
          'When it last came, true to the hour, while no webhook took it. It was dropped: only events that have a webhook are delivered.',
      },
    },
  },
  SigningSecret: { properties: { segredo } },
  Delivery: {
    description: 'A delivery, as lists show it.',
    properties: { ...delivery, tentativas: { description: 'How many attempts were made.' } },
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
    description: 'An attempt of a delivery: one POST, or what kept it from being made.',
    properties: {
      numero: { description: 'Counts all attempts; the first is 1.' },
      iniciada_em: { description: 'When it was begun.' },
      duracao_ms: { description: 'How long it took, in milliseconds.' },
      resultado,
      detalhe,
      status: { description: 'The status code of the answer, if there was one.' },
      resposta: {
        description:
          'The first 1,024 bytes of the answer, as text in its declared charset, or UTF-8; of a compressed answer its encoding and size, such as `[gzip, 512 bytes]`, or `[gzip, over 1024 bytes]` if there is more; what was sent as `autorizacao` is replaced by `***`. Null without an answer, and 60 days after the attempt.',
      },
    },
  },
  DeliveryPage: {
    properties: {
      entregas: { description: 'May be fewer than `limite`, even none, while there is a next page.' },
      proximo_cursor: { description: 'The `cursor` of the next page; `null` at the end.' },
    },
  },
  AcceptedDelivery: { properties: { id: deliveryId } },
  Replay: {
    properties: {
      estado: { description: 'Whether it runs (`em_andamento`), is over (`concluido`) or was ended (`cancelado`).' },
      id: { pattern: replayIdForm.source, examples: [examples.replay.id] },
      enviadas: { description: 'How many were queued for sending.' },
    },
  },
  Problem: {
    description: 'Why a request was refused (RFC 9457). `code` is for programs, `detail` for people.',
    properties: problem,
  },
  ValidationProblem: {
    description: 'Why a request was refused, with everything that is wrong with it.',
    properties: { ...problem, errors: { description: 'Everything that is wrong.', minItems: 1 } },
  },
  Finding: {
    description: 'One thing that is wrong with a request.',
    properties: {
      pointer: { description: 'The place in the body, as a JSON Pointer (RFC 6901); empty for the body itself.' },
      parameter: { description: 'Or the query parameter.' },
      code: { description: 'The reason, for programs.' },
      detail: { description: 'The reason, and how to correct it.' },
    },
  },
  TokenResponse: {
    properties: {
      access_token: { description: 'A JWT (RFC 9068), for `Authorization: Bearer`.' },
      expires_in: { description: 'How long the access token lives, in seconds.', minimum: 1 },
      refresh_token: { description: 'For the refresh grant. It works once. Absent where the client may not refresh.' },
      scope: { description: 'What the access token opens, separated by spaces. Absent where it opens nothing.' },
    },
  },
  Revocation: { description: 'Nothing: RFC 7009 gives no content.' },
  Introspection: {
    description: 'What is known of a token (RFC 7662): of one that does not work `active` alone.',
    properties: { active: { description: 'Whether the token works.' } },
  },
  ServerMetadata: { description: 'Authorization server metadata (RFC 8414).' },
  PublicKey: {
    description:
      'A public key (RFC 7518 section 6): one of type `EC` has `crv`, `x` and `y`, one of type `RSA` has `n` and `e`.',
  },
  KeySet: { description: 'The public keys that verify access tokens (RFC 7517).' },
  ProtectedResourceMetadata: { description: 'Protected resource metadata (RFC 9728).' },
  OAuthError: {
    description: 'Why a request was refused (RFC 6749 section 5.2).',
    properties: {
      error: { description: 'The reason, for programs. Each operation lists its own by status; others may come.' },
      error_description: { description: 'What is wrong, in ASCII.' },
    },
  },
} as const satisfies Partial<Record<FunctionSchemaName, SchemaNote>>;
