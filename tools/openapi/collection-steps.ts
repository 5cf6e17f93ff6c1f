import type { apiRoutes } from '../../lambdas/api/routes.ts';
import type { authRoutes } from '../../lambdas/auth/routes.ts';
import type { deliveryRoutes } from '../../lambdas/delivery/api/routes.ts';
import type { OperationId } from '../../lambdas/platform/route-table.ts';
import type { webhookRoutes } from '../../lambdas/webhooks/routes.ts';

/** A request of the collection: an operation with values, and what it leaves to the requests after it. */
export interface Step {
  readonly operation: OperationId<typeof authRoutes & typeof apiRoutes & typeof webhookRoutes & typeof deliveryRoutes>;
  /** The name of the step, where the operation's summary does not tell it from another one. */
  readonly name?: string;
  /** The example of the document that its body is. */
  readonly example?: string;
  /** Fields of that example with other values. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The value of `{id}` in the path. */
  readonly id?: string;
  /** Variables to set: name -> member of the answer. */
  readonly saves?: Readonly<Record<string, string>>;
  /** A variable without which the request is left out. */
  readonly onlyWith?: string;
  /** Lines of its test script besides. */
  readonly script?: readonly string[];
}

const credentials = { client_id: '{{client_id}}', client_secret: '{{client_secret}}' };
const tokens = { access_token: 'access_token', refresh_token: 'refresh_token' };

/** All operations, in an order that works from top to bottom, by folder. */
export const folders: Readonly<Record<string, readonly Step[]>> = {
  'Log in': [
    {
      operation: 'issueToken',
      example: 'password',
      fields: { ...credentials, username: '{{username}}', password: '{{password}}' },
      saves: tokens,
    },
    { operation: 'introspectToken', example: 'token', fields: { ...credentials, token: '{{access_token}}' } },
  ],
  'Register a webhook': [
    {
      operation: 'registerWebhook',
      example: 'autorizacao',
      fields: { evento: '{{evento}}', url: '{{hook_url}}' },
      saves: { webhook_secret: 'segredo', registered_at: 'criado_em' },
    },
    { operation: 'listWebhooks' },
    { operation: 'getWebhook' },
  ],
  Deliveries: [
    { operation: 'sendTest', saves: { delivery_id: 'id' } },
    {
      operation: 'listDeliveries',
      script: [
        "const isOurs = ({ id, criado_em }) => id.startsWith('evt_') && criado_em >= pm.environment.get('registered_at');",
        "pm.environment.set('event_delivery_id', pm.response.json().entregas.find(isOurs)?.id ?? '');",
      ],
    },
    { operation: 'getDelivery', id: '{{delivery_id}}' },
    { operation: 'resendDelivery', id: '{{event_delivery_id}}', onlyWith: 'event_delivery_id' },
  ],
  Replays: [
    { operation: 'startReplay', example: 'held', saves: { replay_id: 'id' } },
    { operation: 'getReplay', id: '{{replay_id}}' },
    { operation: 'cancelReplay', id: '{{replay_id}}' },
  ],
  'Change the webhook': [
    { operation: 'replaceWebhook', example: 'url', fields: { url: '{{hook_url}}?new' } },
    { operation: 'rotateSecret', example: 'now', saves: { webhook_secret: 'segredo' } },
    { operation: 'reactivateWebhook' },
    { operation: 'deleteWebhook' },
  ],
  'Refresh and log out': [
    {
      operation: 'issueToken',
      name: 'Refresh',
      example: 'refresh_token',
      fields: { ...credentials, refresh_token: '{{refresh_token}}' },
      saves: tokens,
    },
    { operation: 'revokeToken', example: 'token', fields: { ...credentials, token: '{{refresh_token}}' } },
  ],
  Discovery: [
    { operation: 'getServerMetadata' },
    { operation: 'getKeys' },
    { operation: 'getProtectedResourceMetadata' },
  ],
};

/** The variables of an environment; those without a value are the user's to fill, or set by requests. */
export const variables: readonly { readonly key: string; readonly value: string; readonly isSecret?: true }[] = [
  { key: 'auth_url', value: 'http://127.0.0.1:4000' },
  { key: 'base_url', value: 'http://127.0.0.1:4001' },
  { key: 'client_id', value: '' },
  { key: 'client_secret', value: '', isSecret: true },
  { key: 'username', value: '' },
  { key: 'password', value: '', isSecret: true },
  { key: 'evento', value: 'proposta.recebida' },
  { key: 'hook_url', value: 'https://receiver.example.com/hooks' },
  { key: 'access_token', value: '', isSecret: true },
  { key: 'refresh_token', value: '', isSecret: true },
  { key: 'webhook_secret', value: '', isSecret: true },
  { key: 'registered_at', value: '' },
  { key: 'delivery_id', value: '' },
  { key: 'event_delivery_id', value: '' },
  { key: 'replay_id', value: '' },
];
