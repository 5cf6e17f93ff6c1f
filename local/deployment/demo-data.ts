import { readFileSync, writeFileSync } from 'node:fs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { makeClientStore } from '../../lambdas/auth/principals/client-store.ts';
import { makeUserStore, type UserTables } from '../../lambdas/auth/principals/user-store.ts';
import { systemClock } from '../../lambdas/platform/clock.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import type { DemoCredentials } from '../outputs.ts';

/** Where the demo data lives. */
export interface DemoPlace {
  readonly dynamo: DynamoDBDocumentClient;
  readonly clientsTable: string;
  readonly userTables: UserTables;
  /** Keeps the credentials across restarts; the tables hold hashes only. */
  readonly file?: string;
}

/** Makes sure of the demo client (both grants) and the demo admin. */
export async function ensureDemo({ dynamo, clientsTable, userTables, file }: DemoPlace): Promise<DemoCredentials> {
  const common = { dynamo, now: systemClock, makeId: randomId };
  const clients = makeClientStore({ ...common, tableName: clientsTable });
  const users = makeUserStore({ ...common, tables: userTables });

  const kept = readKept(file);
  if (kept && (await clients.findClient(kept.ClientId)) && (await users.findUserByEmail(kept.Username))) return kept;

  const accountId = 'demo';
  const email = 'admin@example.com';
  const password = randomId(22);
  const { client, clientSecret } = await clients.createClient({ name: 'Demo', grants: ['password', 'refresh_token'] });
  const earlier = await users.findUserByEmail(email); // left by a run that ended before it could write the file
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
    return keptCredentials.parse(JSON.parse(readFileSync(file ?? '', 'utf8')));
  } catch {
    return undefined;
  }
}

const keptCredentials = z.object({
  ClientId: z.string(),
  ClientSecret: z.string(),
  Username: z.string(),
  Password: z.string(),
  AccountId: z.string(),
});
