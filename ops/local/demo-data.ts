import { readFileSync, writeFileSync } from 'node:fs';
import { type RunOutputs, requiredOutput } from '@emissor/cloud/start';
import * as z from 'zod';
import { openClients, openUsers } from '../stage/stores.ts';
import { localTarget } from '../stage/target.ts';

/** The credentials of the demo client, which has both grants, and of the demo admin. */
export type DemoCredentials = Readonly<z.output<typeof credentialsSchema>>;

/**
 * Creates the demo client and the demo admin, unless the client and the admin in the file still exist.
 * @param file - the file that stores the credentials across restarts, because the tables only contain hashes.
 * @throws {StartError} if an output with a table is missing.
 */
export async function provisionDemo(outputs: RunOutputs, file?: string): Promise<DemoCredentials> {
  for (const table of ['ClientsTable', 'UsersTable', 'CredentialsTable']) requiredOutput(outputs, table);
  const target = localTarget(outputs);
  const [clients, users] = [openClients(target), openUsers(target)];
  try {
    const demo = readStored(file);
    if (demo && (await clients.findClient(demo.ClientId)) && (await users.findUserByEmail(demo.Username))) return demo;
    const accountId = 'demo';
    const email = 'admin@example.com';
    const password = target.makeId(22);
    const { client, clientSecret } = await clients.createClient({
      name: 'Demo',
      grants: ['password', 'refresh_token'],
    });
    const existingAdmin = await users.findUserByEmail(email); // an earlier run ended before it wrote the file
    if (existingAdmin) await users.setUserPassword(existingAdmin.userId, password);
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

function readStored(file: string | undefined): DemoCredentials | undefined {
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
