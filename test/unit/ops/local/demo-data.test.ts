import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunOutputs } from '@emissor/cloud/start';
import { afterAll, expect, it } from 'vitest';
import { provisionDemo } from '../../../../ops/local/demo-data.ts';
import { startOperatedTables } from '../../../support/operated-tables.ts';

const directory = mkdtempSync(join(tmpdir(), 'emissor-demo-'));
const file = join(directory, 'demo.json');
const operated = await startOperatedTables();
const outputs = operated.outputs as RunOutputs;
afterAll(async () => {
  await operated.stop();
  rmSync(directory, { recursive: true });
});

it('reuses the demo client and admin in the file while they exist, and creates new ones without the file', async () => {
  const first = await provisionDemo(outputs, file);
  expect(first).toMatchObject({ Username: 'admin@example.com', AccountId: 'demo' });
  expect(await provisionDemo(outputs, file)).toEqual(first);
  const before = await operated.items('Credentials');
  const { ClientId, Username, Password } = await provisionDemo(outputs);
  expect(Username).toBe(first.Username);
  expect(ClientId).not.toBe(first.ClientId);
  expect(Password).not.toBe(first.Password);
  expect(await operated.items('Credentials')).not.toEqual(before);
});

it('requires the tables of the demo data', async () => {
  const { ClientsTable: _, ...others } = outputs;
  await expect(provisionDemo(others as RunOutputs)).rejects.toThrow('The stacks have no output "ClientsTable"');
});
