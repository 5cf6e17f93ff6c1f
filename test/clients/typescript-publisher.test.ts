import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Result } from '../../packages/publisher/src/publisher.ts';
import type { Client } from '../../tools/support/accounts.ts';
import { closeNow, listen } from '../../tools/support/listen.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { createClient, openSession, register } from '../support/e2e-service.ts';
import { describeWith, output, outputs } from '../support/e2e-target.ts';
import { readPage } from '../support/markdown-page.ts';
import { root, runNode } from '../support/run-node.ts';

// Packs packages/publisher, installs it into an empty folder and uses it there, like a user without this repository.

const user = mkdtempSync(path.join(tmpdir(), 'emissor-publisher-'));
const execute = (command: string, args: readonly string[], cwd: string) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

const compile = (file: string) => {
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023', '--module', 'nodenext'];
  execute(path.join(root, 'node_modules/.bin/tsc'), [...options, '--types', 'node', file], user);
};

/** Runs a publishing program in the user's folder, and returns its output. */
const run = async (program: string, queueUrl: string, input = '', variables = {}) => {
  const environment = {
    EVENTS_QUEUE_URL: queueUrl,
    AWS_ENDPOINT_URL_SQS: new URL(queueUrl).origin,
    AWS_REGION: outputs.Region ?? 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    ...variables,
  };
  const { code, output: printed } = await runNode({
    args: [program],
    directory: user,
    environment,
    timeout: 60_000,
    input,
  });
  expect(code, printed).toBe(0);
  return printed;
};
const publishAll = async (queueUrl: string, events: readonly object[], variables = {}): Promise<Result[]> =>
  JSON.parse(await run('publish.mjs', queueUrl, JSON.stringify(events), variables));

beforeAll(() => {
  execute('npm', ['pack', '--silent', '--workspace', 'packages/publisher', '--pack-destination', user], root);
  const [tarball = ''] = readdirSync(user);
  writeFileSync(path.join(user, 'package.json'), '{"type":"module","private":true}');
  // The installation is offline. Links to this repository replace the dependencies that a user's npm would install.
  execute('npm', ['install', '--silent', '--offline', '--legacy-peer-deps', `./${tarball}`], user);
  for (const name of ['@aws-sdk/client-sqs', '@types/node']) {
    mkdirSync(path.join(user, 'node_modules', path.dirname(name)), { recursive: true });
    symlinkSync(path.join(root, 'node_modules', name), path.join(user, 'node_modules', name));
  }
  copyFileSync(path.join(import.meta.dirname, 'publish.mjs'), path.join(user, 'publish.mjs'));
});
afterAll(() => rmSync(user, { recursive: true }));

describe('the package @emissor/publisher', () => {
  it('contains only its code, its types and its README', () => {
    const folder = path.join(user, 'node_modules/@emissor/publisher');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file => file !== 'dist');
    expect(files.sort()).toEqual(['README.md', 'dist/publisher.d.ts', 'dist/publisher.js', 'package.json']);
  });

  it('has types that reject invalid events at compile time', () => {
    writeFileSync(path.join(user, 'use.ts'), use);
    compile('use.ts');
  });

  it('reports a timeout if a queue never responds', { timeout: 30_000 }, async () => {
    const server = createServer(() => undefined);
    const queueUrl = `http://127.0.0.1:${await listen(server)}/000000000000/events`;
    const event = { id_conta: 'acme', event: 'demanda.criada', id_demanda: 1 };
    const [result] = await publishAll(queueUrl, [event], { AWS_MAX_ATTEMPTS: '1' });
    await closeNow(server);
    expect(result).toMatchObject({ status: 'failed', code: expect.stringContaining('Timeout') });
  });
});

describeWith(['names', 'engines'], 'the publisher', () => {
  let receiver: Receiver;
  let client: Client;
  beforeAll(async () => {
    [receiver, client] = [await startReceiver('publisher'), await createClient()];
    return () => receiver.stop();
  });

  it.each([
    ['packages/publisher/README.md', 2],
    ['README.md', 1],
    ['docs/publishing.md', 1],
  ])('publishes with the code in %s, which compiles', async (page, count) => {
    const session = await openSession(client);
    for (const evento of ['demanda.criada', 'demanda.cancelada', 'mensagem.recebida'] as const)
      await register(session, { evento, url: receiver.url(`/${page}`) });
    const { account } = session.user;
    const blocks = readPage(page).blocks.filter(({ language }) => language === 'ts');
    const first = blocks.findIndex(({ text }) => text.includes("from '@emissor/publisher'"));
    const own = blocks.slice(first).map(({ text }) => text.replaceAll("'acme'", `'${account}'`));
    const events = `const events = [{ id_conta: '${account}', event: 'demanda.cancelada', id_demanda: 1 }] as const;`;
    writeFileSync(path.join(user, 'page.ts'), [events, ...own].join('\n'));
    compile('page.ts');
    await run('page.ts', output('EventsQueueUrl'));
    await receiver.waitFor(`/${page}`, count, 60_000);
  });
});

const use = `
import { type BusinessEvent, createPublisher, findingsOf, type Result } from '@emissor/publisher';

const publisher = createPublisher({ queueUrl: 'https://queue' });
export async function use(events: readonly BusinessEvent[]): Promise<Result[]> {
  await publisher.publish({ id_conta: 'acme', event: 'demanda.criada', id_demanda: 1 });
  // @ts-expect-error the event requires a proposal
  await publisher.publish({ id_conta: 'acme', event: 'proposta.recebida', id_demanda: 1 });
  // @ts-expect-error the event has no proposal
  await publisher.publish({ id_conta: 'acme', event: 'demanda.criada', id_demanda: 1, id_proposta: 2 });
  // @ts-expect-error the event does not exist
  await publisher.publish({ id_conta: 'acme', event: 'demanda.inventada', id_demanda: 1 });
  return findingsOf({}).length === 0 ? publisher.publishAll(events) : publisher.publishAll([]);
}
`;
