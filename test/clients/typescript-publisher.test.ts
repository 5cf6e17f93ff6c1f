import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { startFakeQueue } from '../support/fake-queue.ts';
import { readPage } from '../support/markdown-page.ts';
import { describePublisher, environmentFor } from '../support/publisher-suite.ts';

// packages/publisher: packed, installed into a folder of its own, and used there, as by somebody who has nothing else of this tree.

const root = path.join(import.meta.dirname, '../..');
const user = mkdtempSync(path.join(tmpdir(), 'emissor-publisher-'));
const run = (command: string, args: readonly string[], cwd: string) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

const compile = (file: string) => {
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023', '--module', 'nodenext'];
  run(path.join(root, 'node_modules/.bin/tsc'), [...options, '--types', 'node', file], user);
};

beforeAll(() => {
  run('npm', ['pack', '--silent', '--workspace', 'packages/publisher', '--pack-destination', user], root);
  const [tarball = ''] = readdirSync(user);
  writeFileSync(path.join(user, 'package.json'), '{"type":"module","private":true}');
  // Offline: the SQS client, which a user's npm installs along, is lent from this tree.
  run('npm', ['install', '--silent', '--offline', '--legacy-peer-deps', `./${tarball}`], user);
  for (const name of ['@aws-sdk/client-sqs', '@types/node']) {
    mkdirSync(path.join(user, 'node_modules', path.dirname(name)), { recursive: true });
    symlinkSync(path.join(root, 'node_modules', name), path.join(user, 'node_modules', name));
  }
  copyFileSync(path.join(import.meta.dirname, 'publish.mjs'), path.join(user, 'publish.mjs'));
});
afterAll(() => rmSync(user, { recursive: true }));

describe('the package @emissor/publisher', () => {
  it('has what runs, its types, its page, and nothing else', () => {
    const folder = path.join(user, 'node_modules/@emissor/publisher');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file => file !== 'dist');
    expect(files).toContain('dist/index.js');
    expect(files.filter(file => !/^dist\/[a-z-]+\.(?:js|d\.ts)$/.test(file)).sort()).toEqual([
      'README.md',
      'package.json',
    ]);
  });

  it('is typed: a wrong event is an error of the compiler', () => {
    writeFileSync(path.join(user, 'use.ts'), use);
    compile('use.ts');
  });

  it.each(['packages/publisher/README.md', 'README.md', 'docs/publishing.md'])(
    'is shown in %s by code that compiles and runs',
    async page => {
      const queue = await startFakeQueue();
      const blocks = readPage(page).blocks.filter(({ language }) => language === 'ts');
      const first = blocks.findIndex(({ text }) => text.includes("from '@emissor/publisher'"));
      const own = blocks.slice(first).map(({ text }) => text);
      const events = "const events = [{ id_conta: 'acme', event: 'demanda.cancelada', id_demanda: 1 }] as const;";
      writeFileSync(path.join(user, 'page.ts'), [events, ...own].join('\n'));
      compile('page.ts');
      await promisify(execFile)(process.execPath, ['page.ts'], { cwd: user, env: environmentFor(queue.url) });
      await queue.stop();
      expect(queue.requests.length).toBeGreaterThan(0);
      for (const { body } of queue.requests.flat())
        expect(parseEventMessage(body, 'm', 'https://d').outcome).toBe('event');
    },
  );
});

describePublisher('the TypeScript publisher, against a run', async () => ({
  command: process.execPath,
  args: ['publish.mjs'],
  cwd: user,
}));

const use = `
import { type BusinessEvent, createPublisher, findingsOf, type Outcome } from '@emissor/publisher';

const publisher = createPublisher({ queueUrl: 'https://queue' });
export async function use(events: AsyncIterable<BusinessEvent>): Promise<Outcome> {
  await publisher.publish({ id_conta: 'acme', event: 'demanda.criada', id_demanda: 1 });
  // @ts-expect-error the event has a proposal
  await publisher.publish({ id_conta: 'acme', event: 'proposta.recebida', id_demanda: 1 });
  // @ts-expect-error the event has none
  await publisher.publish({ id_conta: 'acme', event: 'demanda.criada', id_demanda: 1, id_proposta: 2 });
  // @ts-expect-error there is no such event
  await publisher.publish({ id_conta: 'acme', event: 'demanda.inventada', id_demanda: 1 });
  const [finding] = findingsOf({});
  return finding === undefined ? publisher.publishAll(events, { signal: AbortSignal.timeout(1_000) }) : publisher.publishAll([]);
}
`;
