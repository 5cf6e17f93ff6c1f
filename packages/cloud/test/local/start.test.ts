import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { synthesise } from '../../src/local/assembly/assembly.ts';
import { type LocalCloud, type LocalCloudRequest, openTerminal, startLocalCloud } from '../../src/local/start.ts';
import { settingsOf } from './sdk-client.ts';
import { temporaryDirectory } from './temporary-directory.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 }); // the CDK and processes start slowly on a busy computer

const root = temporaryDirectory();
const assemblyDirectory = join(root, 'cdk.out');
const outputsFile = join(root, 'outputs.json');
const workDirectory = join(root, '.local');
const written: string[] = [];
const clouds: LocalCloud[] = [];

const start = async (changes: Partial<LocalCloudRequest> = {}): Promise<LocalCloud> => {
  const cloud = await startLocalCloud({
    app: { assemblyDirectory },
    apis: { AuthUrl: 0, BaseUrl: 0 },
    ports: { sqs: 0, dynamoDb: 0 },
    site: { name: 'site.example.com', output: 'SiteUrl', port: 0, handle: (_, response) => void response.end('here') },
    mappings: new Map(),
    ...{ workDirectory, outputsFile },
    terminal: openTerminal({ write: text => written.push(String(text)) > 0 }),
    signal: new AbortController().signal,
    afterDeployment: async () => ({}),
    ...changes,
  });
  clouds.push(cloud);
  return cloud;
};

beforeAll(() => {
  const app = { root: join(import.meta.dirname, '../../../..'), entry: 'bin/app.ts', context: { stage: 'local' } };
  return synthesise(app, assemblyDirectory, new AbortController().signal);
});
afterEach(async () => {
  for (const cloud of clouds.splice(0)) await cloud.stop();
});

it('runs the templates, and removes its files when it stops', async () => {
  const { outputs, stop } = await start();
  expect(JSON.parse(readFileSync(outputsFile, 'utf8'))).toEqual(outputs);
  expect(written.join('')).toMatch(/auth\/rotate-keys.*keys\.rotated/); // the deployment trigger
  expect((await fetch(`${outputs.AuthUrl}/.well-known/jwks.json`)).status).toBe(200);
  expect((await fetch(`${outputs.BaseUrl}/anything`)).status).toBe(404);
  expect(await (await fetch(String(outputs.SiteUrl))).text()).toBe('here');
  await stop();
  expect(existsSync(outputsFile)).toBe(false);
  expect(existsSync(join(workDirectory, 'runs', String(process.pid)))).toBe(false);
  await expect(fetch(String(outputs.AuthUrl))).rejects.toThrow();
});

it('reports a malformed faults file and its correction', async () => {
  const faultsFile = join(root, 'faults.json');
  writeFileSync(faultsFile, '{}');
  await start({ faultsFile });
  writeFileSync(faultsFile, '{"everything": 1}');
  const line = /faults +WARN +It contains "everything", which is not one of .* The previous shares stay in effect\.\n/;
  await expect.poll(() => written.join('')).toMatch(line);
  writeFileSync(faultsFile, '{"copies": 0}');
  await expect.poll(() => written.join('')).toMatch(/faults +reloaded\n/);
});

it('stores the data and outputs that a program adds after the deployment', async () => {
  const dataDirectory = join(root, 'data');
  const inTables = async (endpoint: string, command: PutItemCommand | GetItemCommand) => {
    const client = new DynamoDBClient(settingsOf(endpoint));
    return client.send(command as GetItemCommand).finally(() => client.destroy());
  };
  const Item = { clientId: { S: 'demo' } };
  const first = await start({
    dataDirectory,
    afterDeployment: async ({ DynamoDbEndpoint, ClientsTable }) => {
      await inTables(DynamoDbEndpoint, new PutItemCommand({ TableName: String(ClientsTable), Item }));
      return { Demo: 'demo' };
    },
  });
  expect(first.outputs).toMatchObject({ Demo: 'demo' });
  const sqs = new SQSClient(settingsOf(first.outputs.SqsEndpoint));
  const QueueUrl = String(first.outputs.EventsQueueUrl);
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'kept', DelaySeconds: 900 }));
  sqs.destroy();
  await first.stop();
  const state = JSON.parse(readFileSync(join(dataDirectory, 'state.json'), 'utf8'));
  expect(state.queues[QueueUrl.split('/').at(-1) ?? '']).toMatchObject([{ body: 'kept' }]);
  const { DynamoDbEndpoint, ClientsTable } = (await start({ dataDirectory })).outputs;
  const command = new GetItemCommand({ TableName: String(ClientsTable), Key: Item });
  expect(await inTables(DynamoDbEndpoint, command)).toMatchObject({ Item });
});

it('stops everything it has started if the start fails, and reports the reason', async () => {
  const running = await start();
  const { port } = new URL(running.outputs.SqsEndpoint);
  const own = { outputsFile: join(root, 'own.json') };
  const conflicting = start({ ...own, ports: { sqs: Number(port), dynamoDb: 0 } });
  await expect(conflicting).rejects.toMatchObject({ message: `Port ${port} is in use`, problem: 'port-in-use' });
  const expectError = (reason: string, request: Partial<LocalCloudRequest>) =>
    expect(start({ ...own, ...request })).rejects.toThrow(reason);
  await expectError('The stacks have no output "OtherUrl", which the local run needs.', { apis: { OtherUrl: 0 } });
  await expectError('missing.json: ENOENT', { hostsFile: join(root, 'missing.json') });
  await expectError('is not a cloud assembly', { app: { assemblyDirectory: root } });
  const invalid = join(root, 'invalid.out');
  for (const action of ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes']) {
    cpSync(assemblyDirectory, invalid, { recursive: true });
    const template = join(invalid, 'Emissor-local-Delivery.template.json');
    writeFileSync(template, readFileSync(template, 'utf8').replaceAll(action, 'sqs:Other'));
    await expectError(`must allow ${action} on arn:aws:sqs:us-east-1:`, { app: { assemblyDirectory: invalid } });
  }
});
