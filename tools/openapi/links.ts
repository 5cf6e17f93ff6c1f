import type { deliveryRoutes } from '../../lambdas/delivery/api/routes.ts';
import type { OperationId } from '../../lambdas/platform/route-table.ts';
import type { webhookRoutes } from '../../lambdas/webhooks/routes.ts';

/** A follow-up request after a response. */
export interface Link {
  readonly operationId: OperationId<typeof webhookRoutes & typeof deliveryRoutes>;
  readonly description: string;
  /** The runtime expression of each parameter. */
  readonly parameters: Readonly<Record<string, string>>;
}

const evento = '$request.path.evento';

/** The links of responses, by name. */
export const links = {
  webhook: {
    registered: {
      operationId: 'getWebhook',
      description: 'The webhook, at `Location`.',
      parameters: { evento: '$response.body#/evento' },
    },
  },
  delivery: {
    delivery: {
      operationId: 'getDelivery',
      description: 'The state of the delivery.',
      parameters: { evento, id: '$response.body#/id' },
    },
  },
  page: {
    next: {
      operationId: 'listDeliveries',
      description: 'The next page, unless `proximo_cursor` is null.',
      parameters: { evento, cursor: '$response.body#/proximo_cursor' },
    },
    first: {
      operationId: 'getDelivery',
      description: 'The first delivery of the page, if there is one.',
      parameters: { evento, id: '$response.body#/entregas/0/id' },
    },
  },
  replay: {
    replay: {
      operationId: 'getReplay',
      description: 'The replay, at `Location`.',
      parameters: { evento, id: '$response.body#/id' },
    },
    cancel: {
      operationId: 'cancelReplay',
      description: 'Cancels the replay.',
      parameters: { evento, id: '$response.body#/id' },
    },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Link>>>>;
