import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { LocalCloudRequest } from '../../src/local/request.ts';
import { type LocalCloud, startLocalCloud } from '../../src/local/start.ts';
import { openTerminal } from '../../src/local/terminal.ts';
import { writeAssembly } from './fixture-assembly.ts';
import { settingsOf } from './sdk-client.ts';
import { temporaryDirectory } from './temporary-directory.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 }); // processes start slowly on a busy machine

type Template = Parameters<typeof writeAssembly> extends [string, ...infer Rest] ? Rest : never;

const root = temporaryDirectory();
const outputsFile = join(root, 'outputs.json');
const workDirectory = join(root, '.local');
const written: string[] = [];
const terminal = openTerminal({ write: text => written.push(String(text)) > 0 }, {});
const clouds: LocalCloud[] = [];

/** An app that "synthesises" a hand-written assembly. */
const writeApp = () => {
  const made = join(root, 'made.out');
  writeAssembly(made);
  const copy = `import { cpSync } from 'node:fs'; cpSync('${made}', process.env.CDK_OUTDIR ?? '', { recursive: true });`;
  mkdirSync(join(root, 'bin'), { recursive: true });
  writeFileSync(join(root, 'bin/app.ts'), copy);
};

const start = async (changes: Partial<LocalCloudRequest> = {}): Promise<LocalCloud> => {
  const cloud = await startLocalCloud({
    app: { root, entry: 'bin/app.ts' },
    apis: { AuthUrl: 0, BaseUrl: 0 },
    workDirectory,
    outputsFile,
    terminal,
    ...changes,
  });
  clouds.push(cloud);
  return cloud;
};

const listening = async (port: number): Promise<Server> => {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

/** Returns a free port for each part of a run that may be given one, below those that the system hands out. */
const freePorts = async (): Promise<number[]> => {
  const first = 20_000 + 5 * Math.floor(Math.random() * 2_000);
  const ports = [0, 1, 2, 3, 4].map(offset => first + offset);
  const servers = await Promise.allSettled(ports.map(listening));
  for (const server of servers) if (server.status === 'fulfilled') server.value.close();
  return servers.every(({ status }) => status === 'fulfilled') ? ports : freePorts();
};

const onPorts = ([auth = 0, base = 0, site = 0, sqs = 0, dynamoDb = 0]: readonly number[]) => ({
  apis: { AuthUrl: auth, BaseUrl: base },
  sites: [
    {
      name: 'site.example.com',
      output: 'SiteUrl',
      port: site,
      handle: (_: unknown, response: ServerResponse) => void response.end('here'),
    },
  ],
  ports: { sqs, dynamoDb },
});

const get = async (url: string) => {
  const response = await fetch(url);
  return [response.status, await response.json()] as const;
};

beforeAll(() => writeApp());
afterEach(async () => {
  for (const cloud of clouds.splice(0)) await cloud.stop();
});

describe('a run', () => {
  it('runs the template: trigger, APIs and queue', async () => {
    const { outputs } = await start();
    const address = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(outputs).toEqual({
      AuthUrl: address,
      BaseUrl: address,
      ClientsTable: 'App-local-Data-Clients',
      EventsQueueUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/000000000000\/App-local-Auth-Events$/),
      DynamoDbEndpoint: address,
      SqsEndpoint: address,
      SnsEndpoint: address,
      KmsEndpoint: address,
      LogsEndpoint: address,
      Region: 'us-east-1',
    }); // and no exports, which only link stacks
    expect(JSON.parse(readFileSync(outputsFile, 'utf8'))).toEqual(outputs);
    await expect.poll(() => written.join('')).toMatch(/auth\/token.*triggered/);
    expect(await get(`${outputs.AuthUrl}/token`)).toEqual([200, { routeKey: 'ANY /token', issuer: outputs.AuthUrl }]);
    expect(await get(`${outputs.BaseUrl}/anything`)).toEqual([200, { routeKey: '$default', issuer: outputs.AuthUrl }]);

    const sqs = new SQSClient(settingsOf(outputs.SqsEndpoint));
    await sqs.send(new SendMessageCommand({ QueueUrl: String(outputs.EventsQueueUrl), MessageBody: 'hello' }));
    sqs.destroy();
    await vi.waitFor(() => expect(written.join('')).toContain('got hello'), { timeout: 20_000 });
  });

  it('has its parts on the ports that it is given', async () => {
    const ports = await freePorts();
    const { outputs } = await start(onPorts(ports));
    const { AuthUrl, BaseUrl, SiteUrl, SqsEndpoint, DynamoDbEndpoint } = outputs;
    expect([AuthUrl, BaseUrl, SiteUrl, SqsEndpoint, DynamoDbEndpoint]).toEqual(
      ports.map(port => `http://127.0.0.1:${port}`),
    );
    expect(outputs.EventsQueueUrl).toMatch(`${SqsEndpoint}/`);
    expect(await (await fetch(String(SiteUrl))).text()).toBe('here');
  });

  it.each([1, 2, 3, 4])('needs all its ports: number %d is in use', async part => {
    const ports = await freePorts();
    const other = await listening(ports[part] ?? 0);
    await expect(start(onPorts(ports))).rejects.toThrow(
      expect.objectContaining({ message: `Port ${ports[part]} is in use`, problem: 'port-in-use' }),
    );
    other.close();
    const { outputs } = await start(onPorts(ports)); // nothing of the first try is left
    expect(outputs.AuthUrl).toBe(`http://127.0.0.1:${ports[0]}`);
  });

  it('reports a malformed faults file at once, and when it is good again', async () => {
    const faultsFile = join(root, 'faults.json');
    writeFileSync(faultsFile, '{}');
    await start({ faultsFile });
    writeFileSync(faultsFile, '{"everything": 1}');
    const line = /faults +WARN +It names "everything", which is none of .* The shares stay as they were\.\n/;
    await vi.waitFor(() => expect(written.join('')).toMatch(line), { timeout: 10_000, interval: 100 });
    writeFileSync(faultsFile, '{"copies": 0}');
    await expect.poll(() => written.join('')).toMatch(/faults +read again\n/);
  });

  it('leaves nothing behind when it stops', async () => {
    const cloud = await start();
    await cloud.stop();
    expect(existsSync(outputsFile)).toBe(false);
    expect(existsSync(join(workDirectory, 'runs', String(process.pid)))).toBe(false);
    await expect(fetch(String(cloud.outputs.AuthUrl))).rejects.toThrow();
  });

  it('keeps what a program adds once all is deployed, in the outputs and in a data directory', async () => {
    const dataDirectory = join(root, 'data');
    const TableName = 'App-local-Data-Clients';
    const inTables = async (endpoint: string, command: PutItemCommand | GetItemCommand) => {
      const client = new DynamoDBClient(settingsOf(endpoint));
      return client.send(command as GetItemCommand).finally(() => client.destroy());
    };
    const first = await start({
      dataDirectory,
      afterDeployment: async ({ DynamoDbEndpoint, ClientsTable }) => {
        await inTables(DynamoDbEndpoint, new PutItemCommand({ TableName, Item: { clientId: { S: 'demo' } } }));
        return { Demo: { clientId: 'demo', table: ClientsTable } };
      },
    });
    expect(first.outputs).toMatchObject({ Demo: { clientId: 'demo', table: TableName } });
    expect(JSON.parse(readFileSync(outputsFile, 'utf8'))).toEqual(first.outputs);
    const sqs = new SQSClient(settingsOf(first.outputs.SqsEndpoint));
    const QueueUrl = String(first.outputs.EventsQueueUrl);
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'kept', DelaySeconds: 900 }));
    sqs.destroy();
    await first.stop();
    const state = JSON.parse(readFileSync(join(dataDirectory, 'state.json'), 'utf8'));
    expect(state.queues).toMatchObject({ 'App-local-Auth-Events': [{ body: 'kept' }] });
    const { outputs } = await start({ dataDirectory });
    const command = new GetItemCommand({ TableName, Key: { clientId: { S: 'demo' } } });
    expect(await inTables(outputs.DynamoDbEndpoint, command)).toMatchObject({ Item: { clientId: { S: 'demo' } } });
  });

  it('runs the assembly that it is given instead of the app', async () => {
    const assemblyDirectory = join(root, 'given.out');
    writeAssembly(assemblyDirectory, {}, text => text.replace('issuer:', 'given: true, issuer:'));
    const { outputs } = await start({ app: { assemblyDirectory } });
    expect(await get(`${outputs.AuthUrl}/token`)).toMatchObject([200, { given: true }]);
  });

  it('that cannot start stops all that it had started, and names the reason', async () => {
    const running = await start();
    const port = Number(new URL(String(running.outputs.AuthUrl)).port);
    const assemblyDirectory = join(root, 'refused.out');
    const refuse = async (reason: string | RegExp, changes: Partial<LocalCloudRequest>, ...template: Template) => {
      writeAssembly(assemblyDirectory, ...template);
      const own = { app: { assemblyDirectory }, outputsFile: join(root, 'own.json') };
      await expect(start({ ...own, ...changes })).rejects.toThrow(reason);
    };
    await refuse(`Port ${port} is in use`, { apis: { AuthUrl: port, BaseUrl: 0 } });
    const Bucket = { Type: 'AWS::S3::Bucket' };
    await refuse('does not know the resource type AWS::S3::Bucket (App-local-Data/Bucket)', {}, { Bucket });
    const AuthApi = { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'x' } };
    await refuse(/App-local-Data\/AuthApi: .* no attribute "ApiEndpoint"/, {}, { AuthApi });
    await refuse('The HTTP API App-local-Data/BaseApi has no port: name the output that is its endpoint.', {
      apis: { AuthUrl: 0 },
    });
    await refuse('The stacks have no output "OtherUrl", which the local run needs.', { apis: { OtherUrl: 0 } });
    for (const action of ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes']) {
      const reason = `App-local-Auth/Mapping: the role of App-local-Auth-Token1A2B3C4D must allow ${action} on arn:aws:sqs:us-east-1:000000000000:App-local-Auth-Events.`;
      await refuse(reason, {}, {}, text => text.replace(action, 'sqs:Other'));
    }
    await refuse('missing.json cannot be used', { hostsFile: join(root, 'missing.json') });
    writeFileSync(join(root, 'bin/app.ts'), "throw new TypeError('broken');");
    await refuse('The CDK app does not synthesise: TypeError: broken', { app: { root, entry: 'bin/app.ts' } });
  });
});
