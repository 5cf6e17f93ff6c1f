import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { runOps } from '../../ops/program.ts';
import { ops } from '../support/e2e-ops.ts';
import { callApi, createClient, openSession, register } from '../support/e2e-service.ts';
import { run } from '../support/e2e-target.ts';

it('ops support shows the webhooks of the account, cannot change them, and deletes its login', async () => {
  const session = await openSession(await createClient());
  const { account } = session.user;
  await register(session, { evento: 'demanda.criada', url: 'https://receiver.example.com/support' });
  const { origin, token, end } = await startSupport(account);

  const signIn = await post(origin, '/link', { token });
  const [cookie = ''] = signIn.headers.getSetCookie().join().split(';');
  const folder = new URL(signIn.headers.get('location') ?? '', origin).pathname;
  const open = async (path: string) => {
    const page = await fetch(origin + folder + path, { headers: { cookie } });
    return (await page.text()).replaceAll(/<wbr *\/?>/g, ''); // URLs contain line break opportunities
  };
  const pages = await Promise.all(['', 'webhooks/demanda.criada', 'first-steps'].map(open));
  for (const page of pages) {
    expect(page).toContain(account);
    expect(page).toContain('receiver.example.com');
    expect(page).toContain('Read-only');
    const actions = [...page.matchAll(/<form method="post" action="([^"]*)"/g)].map(([, action]) => action);
    expect(actions).toEqual([`${folder}sign-out`]);
    const form_token = /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const forged = await post(origin, `${folder}webhooks/demanda.criada/delete`, { form_token }, cookie);
    expect(forged.status).toBe(303); // the form token is valid, but the API rejects the change
  }
  const path = '/v1/webhooks/demanda.criada';
  expect(await callApi('GET', path, { token: session.token })).toMatchObject({ status: 200 });

  const users = () => ops<object[]>(['users', 'list', '--account', account]);
  expect(await users()).toHaveLength(2);
  expect(await end()).toBe(0);
  await expect(fetch(origin)).rejects.toThrow('fetch failed');
  expect(await users()).toHaveLength(1);
  const lines = await ops<object[]>(['audit', 'list', '--since', '10m']);
  const target = { account, client: expect.any(String) };
  expect(lines).toContainEqual(expect.objectContaining({ command: 'support', outcome: 'done', target }));
});

/** Starts the command and waits for its link. */
async function startSupport(account: string) {
  const interruption = new AbortController();
  const written = Promise.withResolvers<string>();
  const write = (text: string | Uint8Array) => {
    written.resolve(`${text}`);
    return true;
  };
  const stdout = { write };
  const streams = { stdin: Readable.from([]), stdout, stderr: process.stderr, interruption: interruption.signal };
  const code = runOps(['--outputs', run.outputsFile, '--json', 'support', account], streams);
  const { origin, hash } = new URL(JSON.parse(await written.promise).link);
  const end = () => {
    interruption.abort();
    return code;
  };
  return { origin, token: hash.slice(1), end };
}

function post(origin: string, path: string, form: Record<string, string>, cookie = ''): Promise<Response> {
  const headers = { origin, cookie };
  return fetch(origin + path, { method: 'POST', headers, body: new URLSearchParams(form), redirect: 'manual' });
}
