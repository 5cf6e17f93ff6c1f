import { readFileSync, writeFileSync } from 'node:fs';
import { type RunOutputs, requiredOutput } from '@emissor/local-cloud/start';
import * as z from 'zod';
import { makeClientStore } from '../../lambdas/auth/principals/client-store.ts';
import { makePasswordHashing } from '../../lambdas/auth/principals/password-hash.ts';
import { makeUserStore } from '../../lambdas/auth/principals/user-store.ts';
import { makeDocumentClient, makeDynamo } from '../../lambdas/platform/aws/dynamo.ts';
import { systemClock } from '../../lambdas/platform/clock.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { machine } from '../../lambdas/platform/outside.ts';

/** A client with both grants and an admin user, which exist from the start. */
export type DemoCredentials = Readonly<z.output<typeof credentialsSchema>>;

/**
 * Creates the demo client (both grants) and the demo admin, unless those in the file are still there.
 *
 * @param file - keeps the credentials across restarts, because the tables hold hashes only. @default - none
 * @throws {StartError} when the stacks lack a table
 */
export async function provisionDemo(outputs: RunOutputs, file?: string): Promise<DemoCredentials> {
  const table = requiredOutput(outputs, 'ClientsTable');
  const tables = {
    users: requiredOutput(outputs, 'UsersTable'),
    credentials: requiredOutput(outputs, 'CredentialsTable'),
  };
  const client = makeDocumentClient({
    region: outputs.Region,
    endpoint: outputs.DynamoDbEndpoint,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const common = {
    dynamo: makeDynamo(client),
    now: systemClock,
    makeId: randomId,
    hash: makePasswordHashing(machine).hash,
  };
  try {
    return await ensureDemo(makeClientStore({ ...common, table }), makeUserStore({ ...common, tables }), file);
  } finally {
    client.destroy();
  }
}

async function ensureDemo(
  clients: ReturnType<typeof makeClientStore>,
  users: ReturnType<typeof makeUserStore>,
  file: string | undefined,
): Promise<DemoCredentials> {
  const kept = readKept(file);
  if (kept && (await clients.findClient(kept.ClientId)) && (await users.findUserByEmail(kept.Username))) return kept;

  const accountId = 'demo';
  const email = 'admin@example.com';
  const password = randomId(22);
  const { client, clientSecret } = await clients.createClient({ name: 'Demo', grants: ['password', 'refresh_token'] });
  const earlier = await users.findUserByEmail(email); // of a run that ended before it could write the file
  if (earlier) await users.setUserPassword(earlier.userId, password);
  else await users.createUser({ email, password, accountId, role: 'admin' });

  const credentials = {
    ClientId: client.clientId,
    ClientSecret: clientSecret,
    Username: email,
    Password: password,
    AccountId: accountId,
  };
  if (file !== undefined) writeFileSync(file, JSON.stringify(credentials, undefined, 2), { mode: 0o600 });
  return credentials;
}

function readKept(file: string | undefined): DemoCredentials | undefined {
  try {
    return credentialsSchema.parse(JSON.parse(readFileSync(file ?? '', 'utf8')));
  } catch {
    return undefined;
  }
}

const credentialsSchema = z.object({
  ClientId: z.string(),
  ClientSecret: z.string(),
  Username: z.string(),
  Password: z.string(),
  AccountId: z.string(),
});
