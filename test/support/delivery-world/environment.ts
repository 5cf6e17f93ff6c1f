import { deliveryEnvironment } from '../../../lab/world/stage.ts';
import { ownUrls } from './callers.ts';

const ownHosts = ['base.emissor.example.net'];

/** The environment of all functions, but for what each lane has of its own. */
export const environment = {
  ...deliveryEnvironment,
  keyringTable: 'Keyring',
  clientsTable: 'Clients',
  usersTable: 'Users',
  sessionsTable: 'Sessions',
  operationsTopicArn: 'operations',
  demandsUrl: 'https://demandas.com.br',
  attemptTimeoutMs: 15_000,
  ownHosts,
  ...ownUrls,
  serviceVersion: '0',
  docsUrl: undefined,
} as const;
