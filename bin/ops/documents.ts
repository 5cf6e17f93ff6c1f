import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { makeClientStore } from '../../lambdas/auth/client-store.ts';
import { makeUserStore } from '../../lambdas/auth/user-store.ts';
import { makeDeliveryStore } from '../../lambdas/delivery/delivery-store.ts';
import { systemClock } from '../../lambdas/platform/clock.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { connectionSettings } from './connection-settings.ts';
import { requireOutput, type Target } from './target.ts';

// Loaded by the commands that reach a table, when they do: the SDK takes longer to load than the rest takes to run.

const connect = (target: Target) => ({
  documents: DynamoDBDocumentClient.from(
    new DynamoDBClient(connectionSettings(target, target.outputs.DynamoDbEndpoint)),
    { marshallOptions: { removeUndefinedValues: true } },
  ),
  now: systemClock,
  makeId: randomId,
});

/** The target's clients. */
export const openClients = (target: Target) =>
  makeClientStore({ ...connect(target), tableName: requireOutput(target, 'ClientsTable') });

/** The target's users. */
export const openUsers = (target: Target) =>
  makeUserStore({ ...connect(target), tableName: requireOutput(target, 'UsersTable') });

/** The target's deliveries, to be read: how long they are kept matters to writes only. */
export const openDeliveries = (target: Target) => {
  const { read } = makeDeliveryStore({
    ...connect(target),
    table: requireOutput(target, 'DeliveriesTable'),
    historyDays: 0,
  });
  return { read };
};
