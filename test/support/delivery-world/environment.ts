import { deliveryEnvironment } from '../../../lab/world/stage.ts';
import { ownUrls } from './callers.ts';

const nothing: string[] = [];

/** The environment of all functions, but for what each lane has of its own. */
export const environment = {
  ...deliveryEnvironment,
  KEYRING_TABLE: 'Keyring',
  CLIENTS_TABLE: 'Clients',
  USERS_TABLE: 'Users',
  SESSIONS_TABLE: 'Sessions',
  OPERATIONS_TOPIC_ARN: 'operations',
  DEMANDS_URL: 'https://demandas.com.br',
  ATTEMPT_TIMEOUT_MS: 15_000,
  GIVE_UP: 'waiting',
  /** Slots a second that a slow webhook has. */
  SLOW_RATE: 20,
  TEST_LIMIT: 10,
  RESEND_LIMIT: 60,
  EVENT_SOURCES: nothing,
  KEY_ARN: undefined,
  OWN_HOSTS: nothing,
  ISSUERS: [ownUrls.issuer],
  AUDIENCES: [ownUrls.audience],
  AUTHORIZATION_SERVERS: [ownUrls.issuer],
  SERVICE_VERSION: '0',
  DOCS_URL: undefined,
  FORMER_HOST: undefined,
  FORMER_HOST_SUNSET: undefined,
} as const;
