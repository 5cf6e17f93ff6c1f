import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Source } from '../../../../ops/console/api-source.ts';
import type { DeliveryRow, WebhookView } from '../../../../ops/console/views.ts';
import { listen } from '../../../../tools/support/listen.ts';
import { ask } from './a-page.ts';
import { aSource, delivery, done, aWebhookView as webhook } from './a-source.ts';

beforeEach(() => void done.splice(0));

interface There {
  readonly webhooks?: readonly WebhookView[];
  readonly deliveries?: readonly DeliveryRow[];
}

/** Returns a source for which that much was done. */
const sourceOf = ({ webhooks = [], deliveries = [] }: There, changes: Partial<Source> = {}) =>
  aSource({
    readAccount: async () => ({ webhooks, withoutWebhook: [] }),
    listDeliveries: async () => ({ deliveries, next: null }),
    ...changes,
  });

/** Returns which steps are done, and which one is next, by the marks of their headings. */
const marks = (document: string) =>
  [...document.matchAll(/id="step-\d" data-live><header class="(done|next|)"/g)].map(([, mark]) => mark);

/** Returns the commands of a page, as they are copied. */
const commandsOf = (document: string) =>
  [...document.matchAll(/<pre class="command">([^<]+)</g)].map(([, command = '']) =>
    command.replace(/&(#39|quot|amp);/g, (_, name: string) => ({ '#39': "'", quot: '"' })[name] ?? '&'),
  );

const delivered = { ...delivery, state: 'entregue' };

describe('the first steps', () => {
  it.each<[string, There, readonly string[]]>([
    ['nothing', {}, ['done', 'next', '', '']],
    ['a webhook', { webhooks: [webhook()] }, ['done', 'done', 'next', '']],
    ['a test that was refused', { webhooks: [webhook()], deliveries: [delivery] }, ['done', 'done', 'done', 'next']],
    ['a test that was taken', { webhooks: [webhook()], deliveries: [delivered] }, ['done', 'done', 'done', 'done']],
  ])('show what is there: %s', async (_case, there, expected) => {
    const { document, text } = await ask(sourceOf(there), '/first-steps');
    expect(marks(document)).toEqual(expected);
    expect(text).toContain('account_id acme');
  });

  it('lead to the form that registers, and send a test', async () => {
    const { document } = await ask(sourceOf({}), '/first-steps');
    expect(document).toContain('href="/x/webhooks/new?event=demanda.criada"');
    const source = sourceOf({ webhooks: [webhook()] });
    await ask(source, '/first-steps/send', { form: 'event=demanda.criada' });
    expect(done).toEqual(['test demanda.criada']);
    const { document: readers } = await ask({ ...source, mayChange: false }, '/first-steps');
    expect(readers).not.toMatch(/action="[^"]*first-steps|webhooks\/new/);
  });

  it('have commands with placeholders, and no secret', async () => {
    const { document } = await ask(sourceOf({ webhooks: [webhook()] }), '/first-steps');
    const commands = commandsOf(document);
    expect(commands).toHaveLength(4);
    expect(commands[0]).toContain('client_secret=CLIENT_SECRET');
    expect(commands[0]).toContain("--data-urlencode 'password=PASSWORD'");
  });

  // Bug: steps two to four used a variable that no step set.
  it('have commands that do all four in one shell', async () => {
    const asked: string[] = [];
    const server = createServer(({ method, url, headers }, response) => {
      asked.push(`${method} ${url} ${headers.authorization ?? ''}`);
      response.end('{"token_type":"Bearer","access_token":"a.b-c_d","refresh_token":"r"}');
    });
    const url = `http://127.0.0.1:${await listen(server)}`;
    const login = { ...aSource().login, authUrl: url, baseUrl: url };
    const { document } = await ask(sourceOf({}, { login }), '/first-steps');
    const env = { ...process.env, no_proxy: '*' };
    await promisify(execFile)('sh', ['-c', commandsOf(document).join('\n')], { env }).finally(() => server.close());
    expect(asked).toEqual([
      'POST /oauth/v1/token ',
      'POST /v1/webhooks Bearer a.b-c_d',
      'POST /v1/webhooks/demanda.criada/teste Bearer a.b-c_d',
      'GET /v1/webhooks/demanda.criada/entregas Bearer a.b-c_d',
    ]);
  });

  it.each([
    ['without a webhook', sourceOf({}), true],
    ['with one', sourceOf({ webhooks: [webhook()] }), false],
  ])('are what the first page leads to: %s', async (_case, source, isShown) => {
    expect((await ask(source, '/')).text.includes('New here?')).toBe(isShown);
  });
});
