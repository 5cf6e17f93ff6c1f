import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { anyMessageOf } from '../support/any-message.ts';
import { startFakeQueue } from '../support/fake-queue.ts';
import { readPage } from '../support/markdown-page.ts';
import { describePublisher, environmentFor, type PublishingProgram, perform } from '../support/publisher-suite.ts';
import { pythonEnvironment } from '../support/python-environment.ts';

// packages/publisher/python: its own tests, its types, its wheel, and the messages that it makes, judged by the service's parser.

const root = path.join(import.meta.dirname, '../..');
const folder = path.join(root, 'packages/publisher/python');
const environment = { PYTHONPATH: path.join(folder, 'src'), PYTHONDONTWRITEBYTECODE: '1' };

describe('the Python publisher', () => {
  let python: string;
  beforeAll(async () => {
    python = await pythonEnvironment('publisher', requirements);
  });

  const run = (args: readonly string[], variables: Readonly<Record<string, string>> = environment) =>
    execFileSync(python, args, {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...variables },
      stdio: 'pipe',
    });

  it('passes its own tests', () => {
    run(['-m', 'unittest', 'discover', '--start-directory', 'tests']);
  });

  it('is typed throughout, for Python 3.10', () => {
    expect(run(['-m', 'mypy', '--cache-dir', path.join(tmpdir(), 'emissor-mypy'), 'src'])).toContain('Success');
  });

  it('accepts what the service accepts, under the same webhook-id, and nothing else', async () => {
    const messages = fc.sample(anyMessageOf(businessEvents), 3_000).map(message => JSON.parse(JSON.stringify(message)));
    const judged = (await perform(await program(), { task: 'judge', messages }, 'http://127.0.0.1:1')) as Judgement[];
    let accepted = 0;
    messages.forEach((message, position) => {
      const { findings = [], body, webhookId } = judged[position] ?? {};
      const told = findings.filter(({ reason }) => reason !== 'is no field of this event');
      expect(parseEventMessage(JSON.stringify(message), 'm', 'https://d').outcome === 'rejected').toBe(told.length > 0);
      if (body === undefined) return;
      accepted += 1;
      expect(body).toMatch(/^[ -~]+$/);
      expect(parseEventMessage(body, 'm', 'https://d')).toMatchObject({
        outcome: 'event',
        event: { deliveryId: webhookId },
      });
    });
    expect(accepted).toBeGreaterThan(100);
  });

  it.each(['packages/publisher/python/README.md', 'docs/publishing.md'])(
    'is shown in %s by code that runs',
    async page => {
      const queue = await startFakeQueue();
      const blocks = readPage(page).blocks.filter(({ language }) => language === 'python');
      const first = blocks.findIndex(({ text }) => text.includes('from emissor_publisher'));
      const own = blocks.slice(first).map(({ text }) => text);
      const events = 'events = [{"id_conta": "acme", "event": "demanda.cancelada", "id_demanda": 1}]';
      const options = { cwd: folder, env: { ...environmentFor(queue.url), ...environment } };
      await promisify(execFile)(python, ['-c', [events, ...own].join('\n')], options);
      await queue.stop();
      expect(queue.requests.length).toBeGreaterThan(0);
      for (const { body } of queue.requests.flat())
        expect(parseEventMessage(body, 'm', 'https://d').outcome).toBe('event');
    },
  );

  it('builds a wheel that can be installed and used', () => {
    const target = mkdtempSync(path.join(tmpdir(), 'emissor-wheel-'));
    try {
      const offline = ['--quiet', '--no-index', '--no-deps', '--no-build-isolation'];
      run(['-m', 'pip', 'install', ...offline, '--target', target, '.']);
      expect(readdirSync(path.join(target, 'emissor_publisher'))).toContain('py.typed');
      const use = 'import emissor_publisher as e; print(e.webhook_id_of("acme", "demanda.criada", "\\U0001f4a7"))';
      expect(run(['-c', use], { PYTHONPATH: target }).trim()).toBe('evt_po2XwIv1yKlxspsyzM9c-pVGsHE');
    } finally {
      rmSync(target, { recursive: true });
    }
  });
});

describePublisher('the Python publisher, against a run', program);

const requirements = ['boto3==1.44.5', 'hatchling==1.33.0', 'mypy==2.4.1'];

interface Judgement {
  readonly findings: readonly { readonly field: string; readonly reason: string }[];
  readonly body?: string;
  readonly webhookId?: string;
}

async function program(): Promise<PublishingProgram> {
  const command = await pythonEnvironment('publisher', requirements);
  return { command, args: [path.join(import.meta.dirname, 'publish.py')], cwd: folder, environment };
}
