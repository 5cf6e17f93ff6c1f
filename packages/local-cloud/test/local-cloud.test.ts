import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type LocalCloud, type LocalCloudRequest, startLocalCloud } from '../src/local-cloud.ts';
import { openTerminal } from '../src/terminal.ts';
import { makeAssembly } from './fixture-assembly.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 }); // processes start slowly on a busy machine

const root = mkdtempSync(join(tmpdir(), 'emissor-local-cloud-'));
const outputsFile = join(root, 'outputs.json');
const written: string[] = [];
const terminal = openTerminal({ write: text => written.push(String(text)) > 0 }, {});
const clouds: LocalCloud[] = [];

/** An app that "synthesises" a hand-written assembly. */
const writeApp = (changes: Record<string, object> = {}) => {
  mkdirSync(join(root, 'bin'), { recursive: true });
  const files = makeAssembly(changes);
  writeFileSync(
    join(root, 'bin/app.ts'),
    `import { mkdirSync, writeFileSync } from 'node:fs'; import { dirname, join } from 'node:path';
     const out = process.env.CDK_OUTDIR ?? '';
     for (const [name, content] of Object.entries(${JSON.stringify(files)} as Record<string, string>)) {
       mkdirSync(dirname(join(out, name)), { recursive: true }); writeFileSync(join(out, name), content); }`,
  );
};

/** Writes the assembly of another release: its function says so. */
const writeOther = (directory: string, changes: Record<string, object> = {}) => {
  for (const [name, content] of Object.entries(makeAssembly(changes))) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content.replace('issuer:', "release: 'other', issuer:"));
  }
};

const start = async (changes: Partial<LocalCloudRequest> = {}): Promise<LocalCloud> => {
  const signal = new AbortController().signal;
  const cloud = await startLocalCloud({
    root,
    terminal,
    signal,
    port: 0,
    queueOrder: 'fair',
    mappings: new Map(),
    stageValues: {},
    outputsFile,
    ...changes,
  });
  clouds.push(cloud);
  return cloud;
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
};

/** The first of six ports in a row that nobody has, below those that the system gives out. */
const freeBlock = async (): Promise<number> => {
  for (let first = 20_000 + 6 * Math.floor(Math.random() * 1_500); ; first += 6) {
    const free = await Promise.all([0, 1, 2, 3, 4, 5].map(offset => isFree(first + offset)));
    if (free.every(Boolean)) return first;
  }
};

const get = async (url: string) => {
  const response = await fetch(url);
  return [response.status, await response.json()] as const;
};

beforeAll(() => writeApp());
afterEach(async () => {
  for (const cloud of clouds.splice(0)) await cloud.stop();
});
afterAll(() => rmSync(root, { recursive: true }));

describe('a run', () => {
  it('runs the template: trigger, APIs, queue, and a demo client', async () => {
    const { outputs } = await start();
    expect(outputs).toMatchObject({
      AuthUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      BaseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      ClientsTable: 'App-local-Data-Clients',
      Demo: { Username: 'admin@example.com', AccountId: 'demo' },
    });
    expect(JSON.parse(readFileSync(outputsFile, 'utf8'))).toEqual(outputs);
    expect(written.some(line => line.includes('auth/token') && line.includes('triggered'))).toBe(true);
    expect(await get(`${outputs.AuthUrl}/token`)).toEqual([200, { routeKey: 'ANY /token', issuer: outputs.AuthUrl }]);
    expect(await get(`${outputs.BaseUrl}/anything`)).toEqual([200, { routeKey: '$default', issuer: outputs.AuthUrl }]);

    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
    const sqs = new SQSClient({ region: outputs.Region, endpoint: outputs.SqsEndpoint, credentials });
    await sqs.send(new SendMessageCommand({ QueueUrl: outputs.EventsQueueUrl, MessageBody: 'hello' }));
    sqs.destroy();
    await vi.waitFor(() => expect(written.join('')).toContain('got hello'), { timeout: 20_000 });
  });

  it('has its parts on the ports that follow the first', async () => {
    const port = await freeBlock();
    const { outputs } = await start({ port });
    const { AuthUrl, BaseUrl, ReceiverUrl, SqsEndpoint, DynamoDbEndpoint } = outputs;
    expect([AuthUrl, BaseUrl, ReceiverUrl, SqsEndpoint, DynamoDbEndpoint]).toEqual(
      [0, 1, 2, 3, 4].map(offset => `http://127.0.0.1:${port + offset}`),
    );
    expect(outputs.EventsQueueUrl).toMatch(`http://127.0.0.1:${port + 3}/`);
    expect((await fetch(`${ReceiverUrl}/deliveries`)).status).toBe(200);
  });

  it.each([1, 2, 3, 4])('needs all its ports: the one at +%d is in use', async offset => {
    const port = await freeBlock();
    const other = createServer().listen(port + offset, '127.0.0.1');
    await once(other, 'listening');
    await expect(start({ port })).rejects.toThrow(
      `Port ${port + offset} is in use: free it, or choose others with --port N (a run takes N to N+5; 0 takes any free ones).`,
    );
    other.close();
    const { outputs } = await start({ port }); // nothing of the first try is left
    expect(outputs.AuthUrl).toBe(`http://127.0.0.1:${port}`);
  });

  it('reports a malformed faults file at once', async () => {
    const faultsFile = join(root, 'faults.json');
    writeFileSync(faultsFile, '{}');
    await start({ faultsFile });
    writeFileSync(faultsFile, '{"everything": 1}');
    const line = /faults +WARN +It names "everything", which is none of .* The shares stay as they were\.\n/;
    await vi.waitFor(() => expect(written.join('')).toMatch(line), { timeout: 10_000, interval: 100 });
  });

  it('leaves nothing behind when it stops', async () => {
    const cloud = await start();
    await cloud.stop();
    expect(existsSync(outputsFile)).toBe(false);
    expect(existsSync(join(root, '.local/runs', String(process.pid)))).toBe(false);
    await expect(fetch(cloud.outputs.AuthUrl)).rejects.toThrow();
  });

  it('keeps its demo client with --data', async () => {
    const dataDirectory = join(root, 'data');
    const first = await start({ dataDirectory });
    await first.stop();
    const second = await start({ dataDirectory });
    expect(second.outputs.Demo).toEqual(first.outputs.Demo);
  });

  it('has every second invocation served by another release with --beside, and counts them', async () => {
    const besideDirectory = join(root, 'other.out');
    writeOther(besideDirectory);
    const cloud = await start({ besideDirectory });
    const { AuthUrl } = cloud.outputs;
    const own = [200, { routeKey: 'ANY /token', issuer: AuthUrl }];
    const other = [200, { routeKey: 'ANY /token', issuer: AuthUrl, release: 'other' }];
    const answers = [];
    for (let count = 0; count < 4; count += 1) answers.push(await get(`${AuthUrl}/token`));
    expect(answers).toEqual([other, own, other, own]); // the first invocation was the trigger's
    await cloud.stop();
    expect(written.join('')).toMatch(/beside +auth\/token: 3 invocations by this release, 2 by the other\n/);
  });

  it('runs the assembly that it is given instead of the app', async () => {
    const assemblyDirectory = join(root, 'given.out');
    writeOther(assemblyDirectory);
    const { outputs } = await start({ assemblyDirectory });
    expect(await get(`${outputs.AuthUrl}/token`)).toMatchObject([200, { release: 'other' }]);
  });

  it('refuses an assembly that --beside cannot use', async () => {
    await expect(start({ besideDirectory: join(root, 'missing') })).rejects.toThrow('missing/manifest.json');
    expect(existsSync(outputsFile)).toBe(false);
  });

  it('keeps its outputs file: a second run overwrote it', async () => {
    const { outputs } = await start();
    await expect(start()).rejects.toThrow(`${outputsFile} belongs to a run that is up at ${outputs.AuthUrl}`);
    expect(JSON.parse(readFileSync(outputsFile, 'utf8'))).toEqual(outputs);
  });

  it('that cannot start stops all that it had started, and names the reason', async () => {
    const running = await start();
    const port = Number(new URL(running.outputs.AuthUrl).port);
    const own = { outputsFile: join(root, 'own.json') };
    await expect(start({ ...own, port })).rejects.toThrow(`Port ${port} is in use`);
    writeApp({ Bucket: { Type: 'AWS::S3::Bucket' } });
    await expect(start(own)).rejects.toThrow('does not know the resource type AWS::S3::Bucket (App-local-Data/Bucket)');
    writeApp({ AuthApi: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'x' } } });
    await expect(start(own)).rejects.toThrow(/App-local-Data\/AuthApi: .* no attribute "ApiEndpoint"/);
    writeApp();
    await expect(start({ ...own, hostsFile: join(root, 'missing.json') })).rejects.toThrow(
      'missing.json cannot be used',
    );
  });
});
