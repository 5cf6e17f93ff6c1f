import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createClient, createUser } from '../support/e2e-accounts.ts';
import { until } from '../support/e2e-poll.ts';
import { mapHost } from '../support/e2e-receiver.ts';
import { authUrl, baseUrl, describeWith, plant } from '../support/e2e-target.ts';
import { readPage } from '../support/markdown-page.ts';
import { makeSampleReceiver } from '../support/sample-receiver.ts';

// The commands of docs/pt/inicio-rapido.md, in its order and in one shell, as a reader types them. In step 1 the reader puts in
// values of their own; in step 4 they start a receiver with the secret that step 3 showed.

describeWith(['names'], 'docs/pt/inicio-rapido.md', () => {
  it('leads to a verified delivery', async () => {
    const receiver = await makeSampleReceiver('PHP');
    const folder = mkdtempSync(path.join(tmpdir(), 'emissor-quick-start-'));
    try {
      const host = `quick-start-${receiver.port}.example.com`;
      await mapHost(host, `http://127.0.0.1:${receiver.port}`);
      const [client, user] = [await createClient(), await createUser()];
      const values = {
        AUTH_URL: authUrl,
        BASE_URL: baseUrl,
        CLIENT_ID: client.clientId,
        CLIENT_SECRET: client.clientSecret,
        USER_EMAIL: user.email,
        USER_PASSWORD: user.password,
        HOOK_URL: `https://${host}/emissor`,
      };
      const { secretFile, startedFile, output, ended } = runBlocks(folder, values);
      const secret = await until('the secret', () =>
        existsSync(secretFile) ? readFileSync(secretFile, 'utf8') : undefined,
      );
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      await receiver.start(plant(secret));
      writeFileSync(startedFile, '');
      expect(await ended, output()).toBe(0);

      const [id = '', body] = Object.entries(receiver.stored())[0] ?? [];
      expect(output()).toContain(`{"id":"${id}"}`);
      expect(output()).toContain(`"id":"${id}","estado":"entregue"`);
      const shown = readPage('docs/pt/inicio-rapido.md').blocks.find(block => block.language === 'text')?.text ?? '';
      expect(shown.replace(/^teste_\w{22}/, id)).toBe(`${id} ${body}`);
      expect(shapeOf(output().trim().split('\n').at(-1) ?? '')).toEqual(shapeOf(shownList()));
    } finally {
      await receiver.remove();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** Runs the page's commands with these values, and waits after step 3 until the receiver is started. */
function runBlocks(folder: string, values: Readonly<Record<string, string>>) {
  const secretFile = path.join(folder, 'secret');
  const startedFile = path.join(folder, 'started');
  const [variables = '', ...steps] = readPage('docs/pt/inicio-rapido.md')
    .blocks.filter(({ language }) => language === 'bash')
    .map(({ text }) => text);
  const own = variables.replaceAll(/^export (\w+)=.*$/gm, (_, name) => `export ${name}='${values[name]}'`);
  const between = `printf %s "$SEGREDO" > ${secretFile}.new && mv ${secretFile}.new ${secretFile}
until [ -e ${startedFile} ]; do sleep 0.1; done`;
  const script = ['set -eu', own, ...steps.slice(0, 2), between, ...steps.slice(2)].join('\n');
  const child = spawn('bash', ['-c', script], { cwd: folder });
  let written = '';
  child.stdout.on('data', chunk => {
    written += chunk;
  });
  child.stderr.on('data', chunk => {
    written += chunk;
  });
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve));
  return { secretFile, startedFile, output: () => written, ended };
}

/** Returns the list of deliveries that the page shows. */
function shownList(): string {
  return readPage('docs/pt/inicio-rapido.md').blocks.find(({ language }) => language === 'json')?.text ?? '';
}

/** Returns a JSON text with its ids and times replaced. */
function shapeOf(json: string): string {
  return json.replaceAll(/teste_\w{22}/g, 'ID').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}
