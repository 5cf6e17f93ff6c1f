import { readFileSync, writeFileSync } from 'node:fs';
import { type RunOutputs, requiredOutput } from '@emissor/cloud/start';
import * as z from 'zod';
import { openClients, openUsers } from '../stage/stores.ts';
import { localTarget } from '../stage/target.ts';

/** The credentials of a client with both grants and of an admin user. Both exist from the start. */
export type DemoCredentials = Readonly<z.output<typeof credentialsSchema>>;

/**
 * Creates the demo client (both grants) and the demo admin, unless the credentials in the file still exist.
 * @param file - stores the credentials across restarts, because the tables only contain hashes. @default - none
 * @throws {StartError} if the stacks lack a table
 */
export async function provisionDemo(outputs: RunOutputs, file?: string): Promise<DemoCredentials> {
  for (const table of ['ClientsTable', 'UsersTable', 'CredentialsTable']) requiredOutput(outputs, table);
  const target = localTarget(outputs);
  const [clients, users] = [openClients(target), openUsers(target)];
  try {
    const kept = readKept(file);
    if (kept && (await clients.findClient(kept.ClientId)) && (await users.findUserByEmail(kept.Username))) return kept;
    const accountId = 'demo';
    const email = 'admin@example.com';
    const password = target.makeId(22);
    const { client, clientSecret } = await clients.createClient({
      name: 'Demo',
      grants: ['password', 'refresh_token'],
    });
    const earlier = await users.findUserByEmail(email); // created by a run that ended before it could write the file
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
  } finally {
    target.documents().destroy();
  }
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
