import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type LocalCloud, startLocalCloud } from '../../src/local/start.ts';
import { openTerminal } from '../../src/local/terminal.ts';
import { settingsOf } from './sdk-client.ts';
import { temporaryDirectory } from './temporary-directory.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 }); // the CDK and processes start slowly on a busy machine

const root = join(import.meta.dirname, 'tiny-app');
const workDirectory = temporaryDirectory();
const written: string[] = [];
let cloud: LocalCloud;

beforeAll(async () => {
  cloud = await startLocalCloud({
    app: { root, entry: 'app.ts' },
    apis: { NotesUrl: 0 },
    workDirectory,
    terminal: openTerminal({ write: text => written.push(String(text)) > 0 }, {}),
  });
});
afterAll(() => cloud?.stop());

it("another CDK app runs: from its API through its queue into its table, under its functions' permissions", async () => {
  const { NotesUrl, NotesTable, DynamoDbEndpoint } = cloud.outputs;
  const note = `${NotesUrl}/notes/one`;
  expect((await fetch(note)).status).toBe(404);
  const headers = { 'content-type': 'text/plain' };
  expect((await fetch(note, { method: 'PUT', body: 'hello', headers })).status).toBe(202);
  const read = async () => {
    const response = await fetch(note);
    return [response.status, await response.text()];
  };
  await vi.waitFor(async () => expect(await read()).toEqual([200, 'hello']), { timeout: 30_000, interval: 100 });

  const dynamo = new DynamoDBClient(settingsOf(DynamoDbEndpoint));
  const { Item } = await dynamo.send(new GetItemCommand({ TableName: String(NotesTable), Key: { id: { S: 'one' } } }));
  dynamo.destroy();
  expect(Item).toEqual({ id: { S: 'one' }, text: { S: 'hello' } });
  expect(written.join('')).not.toMatch(/WARN|ERROR/);
});

it('is started as the README tells', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../src/local/README.md'), 'utf8');
  expect(readme).toContain(readFileSync(join(root, 'start.ts'), 'utf8'));
});
