import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthService, type ClientCredentials, startAuthService } from '../../../support/auth-service.ts';
import { judgedBy } from '../../../support/password-hashing.ts';

let service: AuthService;
let client: ClientCredentials;
/** Happens once, just before the next operation of that name is sent. */
let meanwhile: { readonly operation: string; readonly act: () => Promise<unknown> } | undefined;
beforeAll(async () => {
  service = await startAuthService({ keyDerivation: judgedBy(password => password !== 'wrong') });
  service.database.client.middlewareStack.add(
    (next, context) => async args => {
      const due = meanwhile;
      if (!due || !context.commandName?.startsWith(due.operation)) return next(args);
      meanwhile = undefined;
      await due.act();
      return next(args);
    },
    { step: 'initialize', name: 'meanwhile' },
  );
  client = await service.makeClient();
});
afterAll(() => service.stop());
const login = (username: string, password = 'x') => service.logIn(client, { username, password });
const refused = { status: 400, json: { error: 'invalid_grant' } };

describe('between two steps of a request, a login', () => {
  it.each([4, 0])(
    'is refused when the lock begins after the failures were read, at %i, and before its success',
    async seen => {
      const { username } = await service.makeUser();
      const fail = async (times: number) => {
        for (let time = 0; time < times; time++) await login(username, 'wrong');
      };
      await fail(seen);
      meanwhile = { operation: 'Update', act: () => fail(5 - seen) };
      expect(await login(username)).toMatchObject(refused);
      expect(meanwhile).toBeUndefined();
      expect(service.logs.at(-1)).toContain('user_locked_meanwhile');
    },
  );
  it('with a password whose change crashed is refused', async () => {
    const { user, username } = await service.makeUser();
    await service.database.dynamo(
      new UpdateCommand({
        TableName: 'Users',
        Key: { userId: user.userId },
        UpdateExpression: 'SET credentialVersion = :next',
        ExpressionAttributeValues: { ':next': 2 },
      }),
    );
    expect(await login(username)).toMatchObject(refused);
    expect(service.logs.at(-1)).toContain('password_changed');
  });
  it('is not refreshed when its session is revoked between reading and rotating', async () => {
    const { username } = await service.makeUser();
    const { json } = await login(username);
    meanwhile = {
      operation: 'Update',
      act: () => service.sessions.revokeSession(json.refresh_token.split('.')[0], 'revocation', 1),
    };
    expect(await service.refresh(client, json.refresh_token)).toMatchObject(refused);
    expect(meanwhile).toBeUndefined();
  });
});
