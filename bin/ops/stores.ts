import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { makeClientStore } from '../../lambdas/auth/principals/client-store.ts';
import { makeUserStore } from '../../lambdas/auth/principals/user-store.ts';
import { makeSessionList } from '../../lambdas/auth/sessions/session-list.ts';
import { makeSessionStore } from '../../lambdas/auth/sessions/session-store.ts';
import { makeReadHistory } from '../../lambdas/delivery/delivery-history.ts';
import { makeDeliveryStore } from '../../lambdas/delivery/delivery-store.ts';
import { makeFindWebhook } from '../../lambdas/delivery/lookup.ts';
import { systemClock } from '../../lambdas/platform/clock.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { makeOperatorStore } from '../../lambdas/webhooks/operator-store.ts';
import { connectionSettings } from './connection-settings.ts';
import { countUndelivered, type UndeliveredQuery } from './count-undelivered.ts';
import type { ShowProgress } from './progress.ts';
import { requireOutput, type Target } from './target.ts';

// Loaded by the commands that reach a table, when they do: the SDK takes longer to load than the rest takes to run.

/** Access to the target's tables. */
export function connectDynamo(target: Target): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(new DynamoDBClient(connectionSettings(target, target.outputs.DynamoDbEndpoint)), {
    marshallOptions: { removeUndefinedValues: true },
  });
}

/** The target's clients. */
export function openClients(target: Target) {
  return makeClientStore({ ...connect(target), tableName: requireOutput(target, 'ClientsTable') });
}

/** The target's users. */
export function openUsers(target: Target) {
  return makeUserStore({
    ...connect(target),
    tables: { users: requireOutput(target, 'UsersTable'), credentials: requireOutput(target, 'CredentialsTable') },
  });
}

/** The target's sessions: their lists, and the end of one. */
export function openSessions(target: Target) {
  const { dynamo } = connect(target);
  const tableName = requireOutput(target, 'SessionsTable');
  return { ...makeSessionList({ dynamo, tableName }), ...makeSessionStore({ dynamo, tableName }) };
}

/** The target's webhooks. */
export function openWebhooks(target: Target) {
  return makeOperatorStore({ ...connect(target), tableName: requireOutput(target, 'WebhooksTable') });
}

/**
 * The target's deliveries, to be read or begun anew: how long they are kept matters only where a final state is written,
 * which is the service's own affair.
 */
export function openDeliveries(target: Target) {
  const connection = connect(target);
  const { dynamo } = connection;
  const table = requireOutput(target, 'DeliveriesTable');
  const store = makeDeliveryStore({ ...connection, table, historyDays: 0 });
  const { read, update } = store;
  return {
    read,
    update,
    history: makeReadHistory({ dynamo, table, store }),
    findWebhook: makeFindWebhook(dynamo, requireOutput(target, 'WebhooksTable')),
    count: (query: UndeliveredQuery, progress: ShowProgress) =>
      countUndelivered(query, { client: dynamo, table }, progress),
  };
}

function connect(target: Target) {
  return {
    dynamo: connectDynamo(target),
    now: systemClock,
    makeId: randomId,
  };
}
