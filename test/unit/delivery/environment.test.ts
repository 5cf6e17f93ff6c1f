import { describe, expect, it } from 'vitest';
import { deliverEnvironment, deliveriesApiEnvironment } from '../../../lambdas/delivery/environment.ts';
import { readEnvironment } from '../../../lambdas/platform/environment.ts';

const variables = {
  ...anyValues(deliverEnvironment),
  LANE: 'first',
  DEMANDS_URL: 'https://demandas.com.br//',
  RETRY_SCHEDULE: '5000, 300000',
  ATTEMPT_TIMEOUT_MS: '15000',
  GIVE_UP: 'waiting',
  SLOW_RATE: '20',
  OWN_HOSTS: 'auth.emissor.com.br,api.emissor.com.br',
  HISTORY_DAYS: '30',
};

describe('the environment of the consumers', () => {
  it('is read into what they need', () => {
    expect(readEnvironment(deliverEnvironment, variables)).toMatchObject({
      demandsUrl: 'https://demandas.com.br',
      retrySchedule: [5_000, 300_000],
      attemptTimeoutMs: 15_000,
      giveUp: 'waiting',
      slowRate: 20,
      ownHosts: ['auth.emissor.com.br', 'api.emissor.com.br'],
      historyDays: 30,
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

const historyVariables = {
  ...anyValues(deliveriesApiEnvironment),
  DEMANDS_URL: 'https://demandas.com.br/',
  HISTORY_DAYS: '30',
  DOCS_URL: '',
};

describe('the environment of the history', () => {
  it('is read into what it needs', () => {
    const read = readEnvironment(deliveriesApiEnvironment, historyVariables);
    expect(read).toMatchObject({ demandsUrl: 'https://demandas.com.br', historyDays: 30, docsUrl: undefined });
  });
});

/** Returns a value for each variable: one that is text, a number and a list. */
function anyValues({ shape }: { readonly shape: object }): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(shape).map(name => [name, '1']));
}
