import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReceivedDelivery } from '../../ops/local/receiver.ts';
import type { LocalRun } from '../../tools/support/local-run.ts';
import { createClient } from '../support/e2e-accounts.ts';
import { until } from '../support/e2e-poll.ts';
import { startReceiver } from '../support/e2e-receiver.ts';
import { startOwnRun } from '../support/e2e-target.ts';
import { callApi, openSession } from '../support/e2e-webhooks.ts';
import { expectAccessible, expectShortPaths, openWindow, startBrowser } from './browser.ts';
import { buildPanel } from './panel.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());

const shell = promisify(execFile);
/** Pastes a command into a shell. Returns the JSON that it prints. */
const paste = async (command: string) => JSON.parse((await shell('sh', ['-c', command])).stdout);

describe('a newcomer at the link that `npm start` prints', () => {
  let run: LocalRun;
  let page: Page;
  let base: string;
  let troubles: readonly string[];
  let printed: string;
  let token: string;
  let secret: string;
  const begun = Date.now();

  beforeAll(async () => {
    run = await startOwnRun();
    printed = await until('what it prints', () => {
      const text = readFileSync(run.logFile, 'utf8');
      return text.includes('Ctrl-C stops it.') ? text : undefined;
    });
    const link = /console +(http\S+)/.exec(printed)?.[1] ?? '';
    ({ page, folder: base, troubles } = await openWindow(browser, link));
  });
  afterAll(async () => {
    await page.context().close();
    await run.stop();
  });

  /** Asks the API of this run, with the token of the command that it printed. */
  const ask = async (method: string, path: string) => {
    const answer = await fetch(`${run.outputs.BaseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  const isDone = (number: number) => page.waitForSelector(`#step-${number} header.done`);

  it('pastes the command of the terminal, and gets a token', async () => {
    const command = /A first token:\n([\s\S]*?)\n\n/.exec(printed)?.[1] ?? '';
    ({ access_token: token } = await paste(command));
    expect((await ask('GET', '/v1/webhooks')).body).toMatchObject({ webhooks: [] });
  });

  it('is led to the steps, signed in as the demo admin: the claims of the token are shown, not itself', async () => {
    await page.click('main a:has-text("First steps")');
    await isDone(1);
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const shown = (await page.textContent('#step-1')) ?? '';
    for (const name of ['iss', 'aud', 'sub', 'client_id', 'account_id', 'scope']) expect(shown).toContain(claims[name]);
    expect(await page.content()).not.toContain('eyJ');
    await expectAccessible(page);
  });

  it('registers a webhook at the built-in receiver, whose secret is shown this once', async () => {
    await page.click('#step-2 a:has-text("Register")');
    await page.fill('input[name=url]', 'https://receiver.example.com/hooks');
    await page.click('main button:has-text("Register")');
    secret = (await page.textContent('code.secret')) ?? '';
    expect(secret).toMatch(/^whsec_.{44}$/);
    expect((await ask('GET', '/v1/webhooks/demanda.criada')).body).toMatchObject({
      url: 'https://receiver.example.com/hooks',
      estado: 'ativo',
    });
    await page.goto(`${base}/first-steps`);
    await isDone(2);
    expect(await page.content()).not.toContain(secret);
  });

  it('sends a test, and sees the delivery that the receiver took and can verify', async () => {
    await page.click('button:has-text("Send a test")');
    await isDone(4);
    const id = (await page.getAttribute('#step-3 .copy', 'data-copy')) ?? '';
    expect((await ask('GET', `/v1/webhooks/demanda.criada/entregas/${id}`)).body).toMatchObject({ estado: 'entregue' });
    const answer = await fetch(`${run.outputs.ReceiverUrl}/deliveries`);
    const received: ReceivedDelivery[] = JSON.parse(await answer.text());
    const { headers = {}, body } = received.find(one => one.headers['webhook-id'] === id) ?? {};
    const signed = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'));
    signed.update(`${id}.${headers['webhook-timestamp']}.${body}`);
    expect(headers['webhook-signature']).toBe(`v1,${signed.digest('base64')}`);
    expect(Date.now() - begun).toBeLessThan(120_000);
    await expectAccessible(page);
    await expectShortPaths(page);
    expect(troubles).toEqual([]);
  });
});

it('an integrator goes the same way on the panel, by its own login', async () => {
  const client = await createClient();
  const session = await openSession(client);
  const receiver = await startReceiver('first-steps');
  const built = buildPanel();
  const panel = built.start(client, session.user);
  const { page, troubles, context } = await openWindow(browser, await panel.link());
  await page.click('main a:has-text("First steps")');
  await page.waitForSelector('#step-1 header.done');
  expect(await page.textContent('#step-1')).toContain(session.user.account);
  await page.click('#step-2 a:has-text("Register")');
  await page.fill('input[name=url]', receiver.url('/first'));
  await page.click('main button:has-text("Register")');
  await page.waitForSelector('text=whsec_');
  await page.click('nav a:has-text("First steps")');
  await page.waitForSelector('#step-2 header.done');
  await page.click('button:has-text("Send a test")');
  await page.waitForSelector('#step-4 header.done');
  const [test] = receiver.received('/first');
  const { json } = await callApi('GET', `/v1/webhooks/demanda.criada/entregas/${test?.headers['webhook-id']}`, session);
  expect(json).toMatchObject({ estado: 'entregue' });
  const shown = await page.content();
  for (const secret of ['eyJ', 'whsec_', client.clientSecret, session.user.password])
    expect(shown).not.toContain(secret);
  expect(await page.textContent('pre.command >> nth=2')).toContain('Bearer $EMISSOR_TOKEN');
  await expectAccessible(page);
  await expectShortPaths(page);
  expect(troubles).toEqual([]);
  await context.close();
  await panel.stop();
  built.remove();
  await receiver.stop();
}, 60_000);
