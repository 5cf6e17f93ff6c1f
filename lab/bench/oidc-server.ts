/**
 * oidc-provider as a careful team would run it for the same two grants: refresh tokens rotate, access tokens are JWTs
 * signed with ES256, passwords are hashed as ours. Clients, users and tokens are in a Map of this process, or (argument
 * `dynamodb`) in DynamoDB. The adapter it brings along slows down with each token of a login, hence one of our own.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { errors, Provider } from 'oidc-provider';
import { makePasswordHashing } from '../../lambdas/auth/principals/password-hash.ts';
import { machine } from '../../lambdas/platform/outside.ts';
import { serveMeasured } from './measured-server.ts';
import { adapterOver, makeDynamoStore, makeMapStore } from './oidc-storage.ts';

const {
  BENCH_CLIENT_ID: clientId = '',
  BENCH_CLIENT_SECRET: clientSecret = '',
  BENCH_USERNAME: username = '',
  BENCH_PASSWORD: password = '',
} = process.env;
const resource = 'https://base.example.com';
const scope = 'webhooks:manage webhooks:read';
const resourceServer = {
  scope,
  audience: resource,
  accessTokenTTL: 900,
  accessTokenFormat: 'jwt',
  jwt: { sign: { alg: 'ES256' } },
};
const passwords = makePasswordHashing(machine);
const store = process.argv[2] === 'dynamodb' ? await makeDynamoStore() : makeMapStore();
await store.put(`User ${username}`, { accountId: username, passwordHash: await passwords.hash(password) });
await store.put(`Client ${clientId}`, {
  client_id: clientId,
  client_secret: clientSecret,
  token_endpoint_auth_method: 'client_secret_post',
  id_token_signed_response_alg: 'ES256',
  grant_types: ['password', 'refresh_token'],
  redirect_uris: [],
  response_types: [],
  scope: `offline_access ${scope}`,
});

const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const provider = new Provider('http://127.0.0.1', {
  adapter: adapterOver(store),
  scopes: ['offline_access', ...scope.split(' ')],
  jwks: { keys: [{ ...jwk, use: 'sig', alg: 'ES256', kid: 'bench' }] },
  rotateRefreshToken: true,
  ttl: { AccessToken: 900, RefreshToken: 14 * 86_400, Grant: 90 * 86_400 },
  findAccount: async (_context: unknown, accountId: string) =>
    (await store.get(`User ${accountId}`)) && { accountId, claims: () => ({ sub: accountId }) },
  features: {
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => resourceServer,
      useGrantedResource: () => true,
      defaultResource: () => resource,
    },
  },
});

provider.registerGrantType(
  'password',
  async context => {
    const { client, params } = context.oidc;
    const user = await store.get(`User ${params.username}`);
    const passwordHash = String(user?.passwordHash ?? passwords.dummy);
    const isMatch = await passwords.verify(params.password ?? '', passwordHash);
    if (!user || !isMatch) throw new errors.InvalidGrant('wrong username or password');

    const { accountId } = user;
    const grant = new provider.Grant({ accountId, clientId: client.clientId });
    grant.addOIDCScope('offline_access');
    grant.addResourceScope(resource, scope);
    const grantId = await grant.save();
    const common = { accountId, client, grantId, gty: 'password', expiresWithSession: false };
    const accessToken = new provider.AccessToken(common);
    accessToken.resourceServer = new provider.ResourceServer(resource, resourceServer);
    accessToken.scope = scope;
    const refreshToken = new provider.RefreshToken({ ...common, resource, scope: `offline_access ${scope}` });
    context.oidc.entity('Grant', grant);
    context.oidc.entity('AccessToken', accessToken);
    context.oidc.entity('RefreshToken', refreshToken);
    context.body = {
      access_token: await accessToken.save(),
      token_type: accessToken.tokenType,
      expires_in: accessToken.expiration,
      refresh_token: await refreshToken.save(),
      scope,
    };
  },
  ['username', 'password', 'scope'],
);

await serveMeasured(createServer(provider.callback()));
