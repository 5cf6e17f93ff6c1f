import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { pairs } from '../../site/pages.ts';
import { documents } from '../support/contract/document.ts';
import { mapHost, startReceiver } from '../support/e2e-receiver.ts';
import { callApi, createClient, createUser, logIn, publish, register } from '../support/e2e-service.ts';
import { authUrl, baseUrl, describeWith, registerSecret, until } from '../support/e2e-target.ts';
import { freePort } from '../support/free-port.ts';
import { type CodeBlock, readPage } from '../support/markdown-page.ts';

// Runs the commands on the integrators' pages as a reader does. The commands on Portuguese pages request errors in Portuguese. The commands
// on English pages specify no language and receive errors in English.

const event = 'proposta.recebida';

/** The English pages and headings with API calls. Each call succeeds if the calls run in this order. */
const sections = [
  'webhooks: List and look up',
  'webhooks: Replace',
  'webhooks: Rotate the secret',
  'webhooks: Test',
  'webhooks: Reactivate',
  'deliveries: List deliveries',
  'deliveries: Look up a delivery',
  'deliveries: Resend a delivery',
  'deliveries: Replay a time range',
  'nothing-arrived: Nothing arrived',
  'webhooks: Delete',
  'webhooks: Register',
  'tokens: Get a token',
  'tokens: Use the token',
  'tokens: Refresh the token',
  'tokens: Look up a token',
  'tokens: End a session',
];

describeWith(['names'], 'the commands on the integrators’ pages', () => {
  describe.each([
    { language: 'pt', quickStart: 'inicio-rapido', errorLanguage: 'pt-BR' },
    { language: 'en', quickStart: 'quick-start', errorLanguage: '' },
  ] as const)('in docs/$language', ({ language, quickStart, errorLanguage }) => {
    const isUnexpected = (call: Call) => !call.status.startsWith('2') || call.errorLanguage !== errorLanguage;
    let folder: string;

    beforeEach(() => {
      folder = mkdtempSync(path.join(tmpdir(), 'emissor-pages-'));
      return () => rmSync(folder, { recursive: true, force: true });
    });

    // Readers replace the values in step 1. They run step 4 in another terminal, with the secret from step 3.
    it('of the quick start result in a verified delivery', async test => {
      const { blocks } = readPage(`docs/${language}/${quickStart}.md`);
      const blocksIn = (format: string) => blocks.filter(block => block.language === format).map(({ text }) => text);
      const port = await freePort();
      const host = `quick-start-${port}.example.com`;
      await mapHost(host, `http://127.0.0.1:${port}`);
      const values: Readonly<Record<string, string>> = {
        ...(await newReader()).values,
        HOOK_URL: `https://${host}/emissor`,
      };
      const [variables = '', logIn = '', registers = '', receiver = '', tests = ''] = blocksIn('bash');
      const own = variables.replaceAll(/^export (\w+)=.*$/gm, (_, name) => `export ${name}='${values[name]}'`);
      const [secretFile, startedFile] = [path.join(folder, 'secret'), path.join(folder, 'started')];
      const between = `printf %s "$SEGREDO" > ${secretFile}.new && mv ${secretFile}.new ${secretFile}
until [ -e ${startedFile} ]; do sleep 0.1; done`;
      const reader = runShell([own, logIn, registers, between, tests]);
      const secret = await until('the secret', () =>
        existsSync(secretFile) ? readFileSync(secretFile, 'utf8') : undefined,
      );
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      registerSecret(secret);
      const start = receiver.replace('whsec_...', secret).replaceAll('8080', String(port));
      const other = runShell([start], { HOME: folder });
      test.onTestFinished(other.stop);
      await until('the receiver', () => other.errors().includes('started') || undefined);
      writeFileSync(startedFile, '');
      expect(await reader.ended, reader.output() + reader.errors()).toBe(0);

      expect(callsIn(reader.errors()).filter(isUnexpected)).toEqual([]);
      const [file = ''] = readdirSync(path.join(folder, 'receiver/events'));
      const id = path.basename(file, '.json');
      expect(reader.output()).toContain(`{"id":"${id}"}`);
      expect(reader.output()).toContain(`"id":"${id}","estado":"entregue"`);
      expect(other.output()).toBe(`${blocksIn('text')[0]?.replace(/^teste_\w{22}/, id)}\n`);
      expect(shapeOf(reader.output().trim().split('\n').at(-1) ?? '')).toEqual(shapeOf(blocksIn('json')[0] ?? ''));
    });

    it('call each API operation, and each call succeeds', async test => {
      const receiver = await startReceiver('pages');
      test.onTestFinished(() => receiver.stop());
      const { user, token, values } = await newReader();
      const url = receiver.url('/emissor');
      await register({ user, token }, { evento: event, url });
      const id = await publish(user.account, { event, id_proposta: 20, id_demanda: 10 });
      await until('the delivery', async () => {
        const { json } = await callApi('GET', `/v1/webhooks/${event}/entregas/${id}`, { token });
        return json?.estado === 'entregue' || undefined;
      });

      const blocks = callBlocks(language);
      expect([...new Set(blocks.map(({ section }) => section))].sort()).toEqual(sections.toSorted());
      const commands = sections.flatMap(name => blocks.filter(({ section }) => section === name));
      const texts = commands.map(({ text }) => text);
      const reader = runShell(texts, { ...values, HOOK_URL: url, TOKEN: token, ID: id });
      expect(await reader.ended, reader.output() + reader.errors()).toBe(0);

      const calls = callsIn(reader.errors());
      expect(calls.filter(isUnexpected)).toEqual([]);
      expect([...new Set(calls.map(({ operation }) => operation))].sort()).toEqual(operations.toSorted());
    });
  });
});

/** The method and the path of each API operation. */
const operations = Object.values(documents)
  .flatMap(({ paths }) => Object.entries(paths))
  .filter(([pattern]) => !pattern.startsWith('/.well-known/'))
  .flatMap(([pattern, item]) =>
    Object.keys(item)
      .filter(name => /^(?:get|put|post|delete)$/.test(name))
      .map(method => `${method.toUpperCase()} ${pattern}`),
  );

async function newReader() {
  const [client, user] = [await createClient(), await createUser()];
  const { access_token: token } = await logIn(client, user);
  const values = {
    AUTH_URL: authUrl,
    BASE_URL: baseUrl,
    CLIENT_ID: client.clientId,
    CLIENT_SECRET: client.clientSecret,
    USER_EMAIL: user.email,
    USER_PASSWORD: user.password,
  };
  return { user, token, values };
}

/** Returns the code blocks with API calls on all pages except the quick start. `section` names the English page and heading. */
function callBlocks(language: 'pt' | 'en'): readonly { readonly section: string; readonly text: string }[] {
  const blocksOf = (page: string) => readPage(page).blocks.filter(isCall);
  return pairs
    .filter(([, english]) => english !== 'quick-start')
    .flatMap(([portuguese, english]) => {
      const headings = blocksOf(`docs/en/${english}.md`).map(({ heading }) => heading);
      const blocks = blocksOf(`docs/${language}/${language === 'pt' ? portuguese : english}.md`);
      return blocks.map(({ text }, at) => ({ section: `${english}: ${headings[at]}`, text }));
    });
}

function isCall({ language, text }: CodeBlock): boolean {
  return language === 'bash' && text.includes('curl ');
}

/** Runs commands in one shell until a command fails. The shell reports each curl call on stderr. */
function runShell(commands: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const script = ['set -eu', reportingCurl, ...commands].join('\n');
  const child = spawn('bash', ['-c', script], { cwd: root, env: { ...process.env, ...environment }, detached: true });
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', chunk => (written.stdout += chunk));
  child.stderr.on('data', chunk => (written.stderr += chunk));
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  const stop = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid);
  };
  return { ended, stop, output: () => written.stdout, errors: () => written.stderr };
}

const root = path.join(import.meta.dirname, '../..');

const reportingCurl = `curl() {
  local errorLanguage=''
  if [[ "$*" =~ 'Accept-Language: '([a-zA-Z-]+) ]]; then errorLanguage="\${BASH_REMATCH[1]}"; fi
  command curl -w "%{stderr}CALL %{method} %{url} %{http_code} $errorLanguage\\n" "$@"
}`;

interface Call {
  readonly operation: string;
  readonly status: string;
  /** The language in the `Accept-Language` header. */
  readonly errorLanguage: string;
}

function callsIn(report: string): readonly Call[] {
  return [...report.matchAll(/^CALL (\w+) (\S+) (\d+) (.*)$/gm)].map(
    ([, method, url = '', status = '', errorLanguage = '']) => {
      const pattern = new URL(url).pathname.replace(event, '{evento}').replace(/\/(?:evt|reenvio)_[\w-]+/, '/{id}');
      return { operation: `${method} ${pattern}`, status, errorLanguage };
    },
  );
}

/** Replaces the IDs and times in a JSON text. */
function shapeOf(json: string): string {
  return json.replaceAll(/teste_\w{22}/g, 'ID').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}
