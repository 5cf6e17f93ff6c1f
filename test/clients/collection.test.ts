import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { User } from '../../tools/support/accounts.ts';
import { createClient, createUser } from '../support/e2e-accounts.ts';
import { authUrl, baseUrl } from '../support/e2e-target.ts';
import { callApi, openSession, publicHost, register } from '../support/e2e-webhooks.ts';

// The Postman collection, run by Postman's own command line from top to bottom, as the README tells a reader to.

const documents = path.join(import.meta.dirname, '../../docs/api');
const collection = path.join(documents, 'emissor.postman_collection.json');

it('every request of the collection works, from top to bottom', async () => {
  const { output, run } = await runCollection(await createUser());
  expect(failuresOf(run), output).toEqual([]);
  expect(run.stats.requests).toMatchObject({ total: requestsOf(collection) - 1, failed: 0 }); // no event to send again
  expect(run.stats.assertions).toMatchObject({ total: requestsOf(collection) - 1, failed: 0 });
  console.log(`newman: ${run.stats.requests.total} requests, ${run.stats.assertions.total} assertions, none failed`);
});

// It went on after the refusal, and replaced and deleted the webhook.
it('a run leaves a webhook alone that was there before it', async () => {
  const session = await openSession(await createClient());
  const webhook = { evento: 'proposta.recebida', url: `https://${await publicHost()}/in-use` };
  await register(session, webhook);
  const { output, run } = await runCollection(session.user);
  expect(failuresOf(run), output).toHaveLength(1);
  const { json } = await callApi('GET', '/v1/webhooks/proposta.recebida', { token: session.token });
  expect(json).toMatchObject(webhook);
});

async function runCollection(user: User): Promise<{ readonly output: string; readonly run: CollectionRun }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-collection-'));
  try {
    const client = await createClient();
    const values: Record<string, string> = {
      auth_url: authUrl,
      base_url: baseUrl,
      client_id: client.clientId,
      client_secret: client.clientSecret,
      username: user.email,
      password: user.password,
    };
    const environment = JSON.parse(readFileSync(path.join(documents, 'local.postman_environment.json'), 'utf8'));
    for (const variable of environment.values) variable.value = values[variable.key] ?? variable.value;
    const environmentFile = path.join(folder, 'environment.json');
    writeFileSync(environmentFile, JSON.stringify(environment));

    const report = path.join(folder, 'report.json');
    const output = await newman([collection, '--environment', environmentFile, '--reporter-json-export', report]);
    return { output, run: JSON.parse(readFileSync(report, 'utf8')).run };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface CollectionRun {
  readonly failures: readonly Failure[];
  readonly stats: Readonly<Record<'requests' | 'assertions', { readonly total: number; readonly failed: number }>>;
}

function failuresOf({ failures }: CollectionRun): string[] {
  return failures.map(({ source, error }) => `${source?.name}: ${error.message}`);
}

interface Failure {
  readonly source?: { readonly name: string };
  readonly error: { readonly message: string };
}

/** Runs Postman's command line. It brings 90 MB that nothing else needs, and is therefore no dependency of the tree. */
function newman(options: readonly string[]): Promise<string> {
  const words = ['--yes', 'newman@6.2.2', 'run', ...options, '--reporters', 'cli,json', '--color', 'off'];
  return new Promise(resolve => {
    execFile('npx', words, { timeout: 280_000, maxBuffer: 2 ** 26 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}

function requestsOf(file: string): number {
  const { item } = JSON.parse(readFileSync(file, 'utf8')) as { item: readonly { item: readonly unknown[] }[] };
  return item.reduce((sum, folder) => sum + folder.item.length, 0);
}
