import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunOutputs } from '@emissor/cloud/start';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { provisionDemo } from '../../../../ops/local/demo-data.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';

const directory = mkdtempSync(join(tmpdir(), 'emissor-demo-'));
const file = join(directory, 'demo.json');
let database: Database;
let outputs: RunOutputs;

beforeAll(async () => {
  database = await startDatabase('Clients', 'Users', 'Credentials');
  outputs = {
    Region: database.region,
    DynamoDbEndpoint: database.endpoint,
    ClientsTable: 'Clients',
    UsersTable: 'Users',
    CredentialsTable: 'Credentials',
  } as Partial<RunOutputs> as RunOutputs;
});
afterAll(async () => {
  await database.stop();
  rmSync(directory, { recursive: true });
});

it('the demo client and admin stay those of the file while they are there', async () => {
  const first = await provisionDemo(outputs, file);
  expect(first).toMatchObject({ Username: 'admin@example.com', AccountId: 'demo' });
  expect(await provisionDemo(outputs, file)).toEqual(first);
});

it('are made anew without the file, for the admin who is there already', async () => {
  const kept = await provisionDemo(outputs, file);
  const { ClientId, Username, Password } = await provisionDemo(outputs);
  expect(Username).toBe(kept.Username);
  expect(ClientId).not.toBe(kept.ClientId);
  expect(Password).not.toBe(kept.Password);
});

it('need their tables', async () => {
  const { ClientsTable: _, ...others } = outputs;
  await expect(provisionDemo(others)).rejects.toThrow('The stacks have no output "ClientsTable"');
});
