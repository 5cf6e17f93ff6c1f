import { apiFindings } from '../../lambdas/api/findings.ts';
import { webhookFindings } from '../../lambdas/webhooks/findings.ts';
import type { webhookRoutes } from '../../lambdas/webhooks/routes.ts';
import { type BaseDescriptions, eventNames, objectFindings, type PossibleFinding } from './description.ts';
import { eventWithoutWebhook, segredo, webhook } from './examples.ts';
import { links } from './links.ts';

const urlFindings: readonly PossibleFinding[] = [
  { location: { pointer: '/url' }, finding: apiFindings.required },
  { location: { pointer: '/url' }, finding: apiFindings.string_type },
  { location: { pointer: '/url' }, finding: webhookFindings.https },
  { location: { pointer: '/url' }, finding: webhookFindings.public_address, values: { address: '10.0.0.1' } },
  { location: { pointer: '/url' }, finding: webhookFindings.fragment },
  { location: { pointer: '/autorizacao' }, finding: webhookFindings.autorizacao },
  { location: { pointer: '/autorizacao' }, finding: webhookFindings.header_name },
  ...objectFindings,
];

/** The operations for webhooks. */
export const webhookDescriptions: BaseDescriptions<typeof webhookRoutes> = {
  listWebhooks: {
    tag: 'Webhooks',
    summary: 'List webhooks',
    description:
      'Lists the webhooks of the account. There is at most one for each event. Also lists recent events that the service dropped because they had no webhook.',
    success: {
      status: 200,
      description: 'The webhooks.',
      schema: 'WebhookList',
      examples: { example: { value: { webhooks: [webhook], eventos_sem_webhook: [eventWithoutWebhook] } } },
    },
  },
  registerWebhook: {
    tag: 'Webhooks',
    summary: 'Register a webhook',
    description:
      'Registers a URL for an event. Only this response contains the signing secret. If an operator has suspended the webhook of the event, the new webhook is also suspended.',
    body: {
      required: true,
      schema: 'WebhookRegistration',
      examples: {
        plain: { summary: 'Without `autorizacao`', value: { evento: webhook.evento, url: webhook.url } },
        autorizacao: {
          summary: 'With `autorizacao`',
          value: { evento: webhook.evento, url: webhook.url, autorizacao: 'Bearer our-own-secret' },
        },
      },
    },
    success: {
      status: 201,
      description: 'The webhook, with its signing secret.',
      schema: 'RegisteredWebhook',
      examples: { example: { value: { ...webhook, segredo } } },
      headers: { Location: 'WebhookLocation' },
      links: links.webhook,
    },
    findings: [
      { location: { pointer: '/evento' }, finding: apiFindings.event, values: { values: eventNames } },
      ...urlFindings,
    ],
  },
  getWebhook: {
    tag: 'Webhooks',
    summary: 'Get a webhook',
    description: 'Returns the webhook of an event.',
    success: { status: 200, description: 'The webhook.', schema: 'Webhook', examples: { example: { value: webhook } } },
  },
  replaceWebhook: {
    tag: 'Webhooks',
    summary: 'Replace a webhook',
    description:
      'Replaces the URL and `autorizacao`, but not the signing secret. A new URL ends the suspensions `gone` and `sem_sucesso`, and resets `falhando_desde`. The same URL has no effect. The service sends pending deliveries to the new URL.',
    body: {
      required: true,
      schema: 'WebhookReplacement',
      examples: { url: { summary: 'Another URL', value: { url: 'https://hooks.example.com/new' } } },
    },
    success: {
      status: 200,
      description: 'The updated webhook.',
      schema: 'Webhook',
      examples: { example: { value: webhook } },
    },
    findings: urlFindings,
  },
  deleteWebhook: {
    tag: 'Webhooks',
    summary: 'Delete a webhook',
    description: 'Deletes the webhook of an event and cancels its pending deliveries. You can still read the history.',
    success: { status: 204, description: 'The webhook is deleted.' },
  },
  rotateSecret: {
    tag: 'Webhooks',
    summary: 'Rotate the signing secret',
    description:
      'Creates a signing secret, which only this response contains. The replaced secret also signs for 24 hours, so each delivery has a signature for each active secret. At most four replaced secrets can be active.',
    body: {
      required: false,
      schema: 'SecretRotation',
      examples: { now: { summary: 'Revoke the replaced secrets now', value: { imediato: true } } },
    },
    success: {
      status: 201,
      description: 'The new secret.',
      schema: 'SigningSecret',
      examples: { example: { value: { segredo } } },
    },
    findings: [{ location: { pointer: '/imediato' }, finding: apiFindings.boolean_type }, ...objectFindings],
  },
  reactivateWebhook: {
    tag: 'Webhooks',
    summary: 'End a suspension',
    description:
      'Reactivates a suspended webhook, and does not change an active one. Deliveries stay `retida` until you replay them.',
    success: {
      status: 200,
      description: 'The active webhook.',
      schema: 'Webhook',
      examples: { example: { value: webhook } },
    },
  },
};
