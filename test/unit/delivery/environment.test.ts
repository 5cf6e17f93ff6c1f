import { describe, expect, it } from 'vitest';
import {
  type DeliverEnvironment,
  type DeliveriesApiEnvironment,
  deliverEnvironment,
  deliveriesApiEnvironment,
} from '../../../lambdas/delivery/environment.ts';
import { readEnvironment } from '../../../lambdas/platform/environment.ts';

const variables: DeliverEnvironment = {
  WEBHOOKS_TABLE: 'Webhooks',
  DELIVERIES_TABLE: 'Deliveries',
  KEYRING_TABLE: 'Keyring',
  LANE: 'first',
  QUEUE_URL: 'http://events',
  RETRY_QUEUE_URL: 'http://retries',
  SLOW_QUEUE_URL: 'http://slow',
  DEAD_LETTER_QUEUE_URL: 'http://dead-letters',
  REFUSED_EVENTS_TOPIC_ARN: 'arn:aws:sns:us-east-1:000000000000:refused',
  DEMANDS_URL: 'https://demandas.com.br//',
  RETRY_SCHEDULE: '5000, 300000',
  ATTEMPT_TIMEOUT_MS: '15000',
  GIVE_UP: 'waiting',
  SLOW_RATE: '20',
  OWN_HOSTS: 'auth.emissor.com.br,api.emissor.com.br',
  HISTORY_DAYS: '30',
  SERVICE_VERSION: '1.2.3',
};

describe('the environment of the consumers', () => {
  it('is read into what they need', () => {
    expect(readEnvironment(deliverEnvironment, variables)).toMatchObject({
      DEMANDS_URL: 'https://demandas.com.br',
      RETRY_SCHEDULE: [5_000, 300_000],
      ATTEMPT_TIMEOUT_MS: 15_000,
      GIVE_UP: 'waiting',
      SLOW_RATE: 20,
      OWN_HOSTS: ['auth.emissor.com.br', 'api.emissor.com.br'],
      HISTORY_DAYS: 30,
    });
  });

  it.each([
    ['LANE', 'fast'],
    ['RETRY_SCHEDULE', '5s,5m'],
    ['ATTEMPT_TIMEOUT_MS', 'soon'],
    ['GIVE_UP', 'never'],
    ['SLOW_RATE', '20/s'],
    ['DEMANDS_URL', ''],
  ])('names %s when it is malformed', (name, value) => {
    expect(() => readEnvironment(deliverEnvironment, { ...variables, [name]: value })).toThrow(name);
  });
});

const historyVariables: DeliveriesApiEnvironment = {
  CLIENTS_TABLE: 'Clients',
  USERS_TABLE: 'Users',
  SESSIONS_TABLE: 'Sessions',
  KEYRING_TABLE: 'Keyring',
  WEBHOOKS_TABLE: 'Webhooks',
  DELIVERIES_TABLE: 'Deliveries',
  RETRY_QUEUE_URL: 'http://retries',
  ISSUER: 'https://auth.emissor.com.br',
  AUDIENCE: 'https://api.emissor.com.br',
  DEMANDS_URL: 'https://demandas.com.br/',
  HISTORY_DAYS: '30',
  TEST_LIMIT: '10',
  RESEND_LIMIT: '60',
  DOCS_URL: '',
};

describe('the environment of the history', () => {
  it('is read into what it needs', () => {
    const read = readEnvironment(deliveriesApiEnvironment, historyVariables);
    expect(read).toMatchObject({ DEMANDS_URL: 'https://demandas.com.br', HISTORY_DAYS: 30, DOCS_URL: undefined });
  });

  it.each(Object.keys(historyVariables))('names %s when it is missing', name => {
    expect(() => readEnvironment(deliveriesApiEnvironment, { ...historyVariables, [name]: undefined })).toThrow(name);
  });
});
