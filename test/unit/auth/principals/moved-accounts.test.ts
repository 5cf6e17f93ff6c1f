import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthService, startAuthService } from '../../../support/auth-service.ts';

describe('a login', () => {
  let service: AuthService;
  beforeAll(async () => {
    service = await startAuthService();
  });
  afterAll(() => service.stop());
  it.each([
    ['its user moved to another account', 'Users', 'userId'],
    ['its client was bound to another account', 'Clients', 'clientId'],
  ] as const)('ends when %s', async (_, TableName, key) => {
    const { id, secret } = await service.makeClient();
    const { user, username, password } = await service.makeUser();
    const form = { client_id: id, client_secret: secret };
    const { json } = await service.post('token', { ...form, grant_type: 'password', username, password });
    await service.dynalite.dynamo.send(
      new UpdateCommand({
        TableName,
        Key: { [key]: key === 'userId' ? user.userId : id },
        UpdateExpression: 'SET accountId = :other',
        ExpressionAttributeValues: { ':other': 'another' },
      }),
    );
    expect((await service.post('introspect', { ...form, token: json.access_token })).json).toEqual({ active: false });
    expect(
      await service.post('token', { ...form, grant_type: 'refresh_token', refresh_token: json.refresh_token }),
    ).toMatchObject({
      status: 400,
      json: { error: 'invalid_grant' },
    });
  });
});
