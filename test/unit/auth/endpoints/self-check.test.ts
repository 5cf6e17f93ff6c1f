import { BatchGetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, expect, it } from 'vitest';
import { composeToken } from '../../../../lambdas/auth/endpoints/token.composition.ts';
import { noResponse } from '../../../../lambdas/platform/deployment/retry.ts';
import { systemKeyDerivation } from '../../../../lambdas/platform/key-derivation.ts';
import { type AuthService, authEnvironment, startAuthService } from '../../../support/auth-service.ts';

const service = await startAuthService({ keyDerivation: systemKeyDerivation });
afterAll(() => service.stop());

const startProcess = (changes: Partial<AuthService['runtime']> = {}) => {
  const handle = composeToken(authEnvironment, { ...service.runtime, ...changes }, service.telemetry);
  return { selfCheck: () => handle({}) };
};

it('The self-check passes repeatedly within a minute and produces no count, log line or metric.', async () => {
  const { selfCheck } = startProcess();
  service.database.operations.length = 0;
  for (let time = 0; time < 3; time++) expect(await selfCheck()).toBeUndefined();
  expect(service.database.operations.filter(name => !/^(Query|BatchGetItem)Command$/.test(name))).toEqual([]);
  expect(service.hashes).toHaveLength(3); // only of the reference hash, because the login computes no hash
  const { Items = [] } = await service.database.dynamo(new ScanCommand({ TableName: 'Lockouts' }));
  expect([...Items, ...service.logs, ...service.metrics]).toEqual([]);
});

const without = (table: string) => (): Partial<AuthService['runtime']> => ({
  dynamo: command =>
    command instanceof BatchGetCommand && table in (command.input.RequestItems ?? {})
      ? Promise.reject(Object.assign(new Error(), { name: 'AccessDeniedException' }))
      : service.database.dynamo(command),
});

it.each<readonly [string, () => Partial<AuthService['runtime']>, RegExp]>([
  [
    'no hash',
    () => ({ keyDerivation: { ...systemKeyDerivation, argon2: () => Promise.reject(new Error('unsupported')) } }),
    /does not support Argon2id/,
  ],
  ['no access to the key', () => ({ kms: { send: () => Promise.reject(new Error('AccessDenied')) } }), /AccessDenied/],
  ...['Clients', 'Users', 'Credentials', 'Sessions', 'Lockouts'].map(
    table =>
      [`no access to ${table}`, without(table), /The login of an unknown client returned 500: .*server_error/] as const,
  ),
])('The self-check fails with %s.', (_case, changesOf, message) =>
  expect(startProcess(changesOf()).selfCheck()).rejects.toThrow(message),
);

it('The error name identifies a fault that may be temporary, so that the deployment retries the self-check.', () =>
  expect(startProcess(without('Users')()).selfCheck()).rejects.toHaveProperty('name', noResponse));
