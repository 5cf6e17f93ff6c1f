import { expect, it } from 'vitest';
import { deliverEnvironment, deliveriesApiEnvironment } from '../../../lambdas/delivery/environment.ts';
import { readEnvironment } from '../../../lambdas/platform/environment.ts';

it('the environment contains a URL without trailing slashes, a schedule of numbers, and an optional docs URL', () => {
  const shape = { ...deliverEnvironment.shape, ...deliveriesApiEnvironment.shape };
  const numbers = Object.fromEntries(Object.keys(shape).map(name => [name, '1'])); // also valid as a text and a list
  const variables = { ...numbers, LANE: 'first', DEMANDS_URL: 'https://demandas.com.br//' };
  expect(readEnvironment(deliverEnvironment, variables)).toMatchObject({ demandsUrl: 'https://demandas.com.br' });
  const wrong = { ...variables, RETRY_SCHEDULE: '5s,5m' };
  expect(() => readEnvironment(deliverEnvironment, wrong)).toThrow('RETRY_SCHEDULE');
  const withoutPages = { ...variables, DOCS_URL: '' };
  expect(readEnvironment(deliveriesApiEnvironment, withoutPages)).toMatchObject({ docsUrl: undefined });
});
