import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Client, User } from '../../tools/support/accounts.ts';
import { createClient, createUser } from '../support/e2e-accounts.ts';
import { ops } from '../support/e2e-ops.ts';
import { authUrl, baseUrl, describeWith } from '../support/e2e-target.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { inlineCode, readPage } from '../support/markdown-page.ts';
import {
  type Call,
  type ClientRun,
  clientLanguages,
  crashOfMono,
  makeTokenClient,
  type TokenClient,
} from '../support/token-client.ts';

// The clients that integrators copy, those of docs/samples/client, against the run under test, through proxies that lose
// answers and ask to wait. PHP has no threads: there, twenty calls are twenty processes. C# runs on Mono.

describeWith(['engines'], 'the clients of docs/samples/client', () => {
  let folder: string;
  let auth: FaultProxy;
  let base: FaultProxy;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'emissor-token-clients-'));
    [auth, base] = await Promise.all([startFaultProxy(authUrl), startFaultProxy(baseUrl)]);
    return async () => {
      await Promise.all([auth.stop(), base.stop()]);
      rmSync(folder, { recursive: true, force: true });
    };
  });

  it('are those that the page lists', () => {
    const rows = readPage('docs/pt/tokens.md').tables.at(-1)?.rows ?? [];
    const listed = rows.map(([file = '']) => inlineCode(file)[0]);
    expect(listed.sort()).toEqual(readdirSync(path.join(import.meta.dirname, '../../docs/samples/client')).sort());
    expect(listed).toHaveLength(clientLanguages.length);
  });

  describe.each(clientLanguages)('%s', { retry: { count: 2, condition: new RegExp(crashOfMono) } }, language => {
    let program: TokenClient;
    let client: Client;
    let user: User;
    let home: string;
    beforeAll(() => {
      program = makeTokenClient(language);
    });
    afterAll(() => program?.remove());

    const file = () => path.join(home, 'tokens.json');
    /** The pair that is in the file, after the name of whose it is. */
    const entry = () =>
      Object.entries<Record<string, unknown>>(JSON.parse(readFileSync(file(), 'utf8')))[0] ?? ['', {}];
    const stored = () => entry()[1];
    const call = (
      times = 1,
      changes: Record<string, string> = {},
      how: Parameters<TokenClient['run']>[3] = {},
    ): Promise<ClientRun> => {
      const environment = {
        AUTH_URL: auth.url,
        BASE_URL: base.url,
        CLIENT_ID: client.clientId,
        CLIENT_SECRET: client.clientSecret,
        USER_EMAIL: user.email,
        USER_PASSWORD: user.password,
        TOKENS_FILE: file(),
        ...changes,
      };
      return program.run(home, times, environment, how);
    };
    const grants = () => auth.passed.map(({ body }) => new URLSearchParams(body).get('grant_type'));
    const sessions = () => ops<unknown[]>(['sessions', 'list', '--user', user.email]);
    const ok = (times: number) => Array.from({ length: times }, () => 200);
    const change = (fields: object) =>
      writeFileSync(file(), JSON.stringify({ [entry()[0]]: { ...stored(), ...fields } }));
    /** Puts a token that opens nothing in place of the stored one. */
    const spoil = () => change({ access_token: 'dead' });
    /** The clients store this time in seconds or in milliseconds, as a number or as text. */
    const isInSeconds = () => Number(stored().refresh_until) < 1e11;
    const storedUntil = () => Number(stored().refresh_until ?? 0) * (isInSeconds() ? 1_000 : 1);
    const refreshUntil = (milliseconds: number) => {
      const until = isInSeconds() ? Math.floor(milliseconds / 1_000) : milliseconds;
      change({ refresh_until: typeof stored().refresh_until === 'string' ? String(until) : until });
    };

    beforeEach(async () => {
      auth.faultOf = () => undefined;
      base.faultOf = () => undefined;
      base.before = () => undefined;
      home = mkdtempSync(path.join(folder, 'home-'));
      [client, user] = await Promise.all([createClient(), createUser()]);
      expect(await call()).toMatchObject({ code: 0, statuses: [200] });
      auth.passed.length = 0;
      base.passed.length = 0;
    });

    it('has under eighty lines of code, and stores its tokens for its user alone', () => {
      expect(program.lines).toBeLessThan(80);
      if (language !== 'C#') expect(statSync(file()).mode & 0o077).toBe(0);
    });

    it('registers, replaces and deletes, with bodies and without', async () => {
      const evento = 'demanda.criada';
      const url = 'https://receiver.example.com/emissor';
      const calls: [status: number, call: Call][] = [
        [201, ['POST', '/v1/webhooks', JSON.stringify({ evento, url })]],
        [200, ['PUT', `/v1/webhooks/${evento}`, JSON.stringify({ url: `${url}/ação` })]],
        [204, ['DELETE', `/v1/webhooks/${evento}`]],
      ];
      for (const [status, asked] of calls)
        expect(await call(1, {}, { call: asked })).toMatchObject({ code: 0, statuses: [status] });
      expect(base.passed.map(({ body }) => body)).toEqual(calls.map(([, [, , body = '']]) => body));
    });

    it('makes one request for a new token, however many calls find theirs dead', async () => {
      spoil();
      // Whatever is used is stored by then.
      const unstored: string[] = [];
      base.before = authorization => {
        const token = authorization?.replace('Bearer ', '');
        if (token !== 'dead' && token !== stored().access_token) unstored.push(String(token));
      };
      expect(await call(20)).toMatchObject({ code: 0, statuses: ok(20) });
      expect(grants()).toEqual(['refresh_token']);
      expect(unstored).toEqual([]);
    });

    it.each([
      ['was lost or cut off', ['lose the answer', 'cut the answer'], ['lost', 'cut']],
      ['was cut off unseen', ['cut the answer, whose length nobody told'], ['cut']],
      ['stalls half-way', ['stall the answer'], ['cut']],
      ['is a page of a gateway', ['fail with a page', 'fail with a page'], ['failed', 'failed']],
      ['asks to wait until a date', ['ask to wait until a date'], ['limited']],
    ] as const)('repeats a refresh whose answer %s, and keeps its session', async (_case, faults, statuses) => {
      spoil();
      let number = 0;
      auth.faultOf = () => faults[number++];
      expect(await call()).toMatchObject({ code: 0, statuses: [200] });
      expect(new Set(grants())).toEqual(new Set(['refresh_token']));
      expect(auth.passed.map(({ status }) => status)).toEqual([...statuses, 200]);
      expect(await sessions()).toHaveLength(1);
      spoil();
      expect(await call()).toMatchObject({ statuses: [200] });
      expect(grants()).not.toContain('password');
    });

    it('repeats a refresh that failed, once for all calls that wait for it', async () => {
      spoil();
      let number = 0;
      auth.faultOf = () => (number++ === 0 ? 'fail' : undefined);
      expect(await call(10)).toMatchObject({ code: 0, statuses: ok(10) });
      expect(auth.passed.map(({ status }) => status)).toEqual(['failed', 200]);
    });

    it('fails for all calls that wait for a refresh when that fails', async () => {
      spoil();
      auth.faultOf = () => 'fail';
      expect(await call(10)).toMatchObject({ statuses: [] });
      expect(grants()).toEqual(Array.from({ length: 4 }, () => 'refresh_token'));
    });

    it('ends with one successor where two processes refresh at once', async () => {
      spoil();
      const runs = await Promise.all([call(3), call(3)]);
      expect(runs.flatMap(({ statuses }) => statuses)).toEqual(ok(6));
      spoil();
      expect(await call()).toMatchObject({ statuses: [200] });
      expect(grants()).not.toContain('password');
      expect(await sessions()).toHaveLength(1);
    });

    it('logs in after a wait that ends later than the time up to which it sends a refresh token', async () => {
      spoil();
      auth.faultOf = () => 'forbid as a gateway does';
      await call();
      spoil();
      // This call has begun to work: two seconds are enough for it to refresh once, on a busy machine too.
      base.before = authorization => authorization === 'Bearer dead' && refreshUntil(Date.now() + 2_000);
      let number = 0;
      auth.faultOf = () => (number++ === 0 ? 'ask to wait two seconds' : undefined);
      expect(await call()).toMatchObject({ code: 0, statuses: [200] });
      expect(grants()).toEqual(['refresh_token', 'refresh_token', 'password']);
      const [, limited, login] = auth.passed.map(({ at }) => at);
      expect(Number(login) - Number(limited)).toBeGreaterThanOrEqual(1_990);
      expect(await sessions()).toHaveLength(2); // nothing counts as stolen
    });

    it('logs in where a call before sent the refresh token, and more than 25 seconds ago', async () => {
      spoil();
      auth.faultOf = () => 'forbid as a gateway does';
      expect(await call(1, { REFRESH_SECONDS: '' })).not.toMatchObject({ statuses: [200] });
      const sent = Number(auth.passed[0]?.at);
      expect(Math.floor(storedUntil())).toBeLessThanOrEqual(sent + 25_000); // PHP stores parts of a millisecond
      expect(storedUntil()).toBeGreaterThan(sent + 5_000);
      refreshUntil(sent - 1_000);
      auth.faultOf = () => undefined;
      expect(await call()).toMatchObject({ code: 0, statuses: [200] });
      expect(grants()).toEqual(['refresh_token', 'password']);
    });

    // Bug: PHP's took 25 for such a text. Node.js's never refreshed, and logged in each time.
    it('repeats a refresh for no longer than malformed REFRESH_SECONDS may mean, or fails', async () => {
      spoil();
      auth.faultOf = () => 'forbid as a gateway does';
      expect(await call(1, { REFRESH_SECONDS: '5s' })).not.toMatchObject({ statuses: [200] });
      expect(Math.floor(storedUntil())).toBeLessThanOrEqual(Date.now() + 5_000);
      expect(grants()).not.toContain('password');
    });

    it('waits as long as 429 asks for, at both hosts', async () => {
      spoil();
      let [atAuth, atBase] = [0, 0];
      auth.faultOf = () => (atAuth++ === 0 ? 'ask to wait a second' : undefined);
      base.faultOf = () => (atBase++ === 1 ? 'ask to wait a second' : undefined);
      expect(await call()).toMatchObject({ code: 0, statuses: [200] });
      for (const { passed } of [auth, base]) {
        const at = passed.findIndex(({ status }) => status === 'limited');
        expect((passed[at + 1]?.at ?? 0) - (passed[at]?.at ?? 0)).toBeGreaterThanOrEqual(990);
      }
    });

    it('keeps its tokens when somebody before the service answers in its place', async () => {
      spoil();
      const { refresh_token } = stored();
      auth.faultOf = () => 'forbid as a gateway does';
      expect(await call()).not.toMatchObject({ statuses: [200] });
      expect(stored()).toMatchObject({ refresh_token });
      auth.faultOf = () => undefined;
      expect(await call()).toMatchObject({ code: 0, statuses: [200] });
      expect(grants()).not.toContain('password');
    });

    it('logs in again, once, where tokens.json holds half of what was written', async () => {
      spoil();
      writeFileSync(file(), readFileSync(file(), 'utf8').replace(/(?<=refresh_tok).*/, ''));
      expect(await call(5)).toMatchObject({ code: 0, statuses: ok(5) });
      expect(grants()).toEqual(['password']);
      expect(await call()).toMatchObject({ statuses: [200] });
      expect(grants()).toEqual(['password']);
    });

    it('logs in, once, where the stored tokens are of another user, integration or host, or of nobody known', async () => {
      user = await createUser();
      expect(await call(5)).toMatchObject({ code: 0, statuses: ok(5) });
      client = await createClient();
      expect(await call(5)).toMatchObject({ code: 0, statuses: ok(5) });
      writeFileSync(file(), JSON.stringify(stored()));
      expect(await call(5)).toMatchObject({ code: 0, statuses: ok(5) });
      expect(grants()).toEqual(['password', 'password', 'password']);
      expect(await call(1, { AUTH_URL: authUrl })).toMatchObject({ code: 0, statuses: [200] });
      expect(await sessions()).toHaveLength(4);
    });

    it('asks for no token on a full disk, and works again after it, with the same session', async () => {
      spoil();
      const before = stored();
      await call(1, {}, { disk: 'full' });
      expect(grants()).toEqual([]);
      expect(stored()).toEqual(before);
      expect(await call()).toMatchObject({ code: 0, statuses: [200] });
      expect(grants()).toEqual(['refresh_token']);
    });

    it('names TOKENS_FILE where that is not set, and stores nothing', async () => {
      const { code, output } = await call(1, { TOKENS_FILE: '' });
      expect(code).not.toBe(0);
      expect(output).toContain('TOKENS_FILE');
      expect(readdirSync(home)).toEqual(['tokens.json']);
    });

    it.each([
      ['is a page of a gateway', 'fail with a page', [502]],
      ['comes after nine seconds', 'answer after nine seconds', [200]],
      ['is cut off', 'cut the answer', expect.not.arrayContaining([200])],
    ] as const)('tells the status of a call whose answer %s', async (_case, fault, statuses) => {
      base.faultOf = () => fault;
      expect(await call()).toMatchObject({ statuses });
    });

    it('logs in, once, where a refresh is lost that may not be repeated', async () => {
      const strict = { REFRESH_SECONDS: '0' };
      await ops(['clients', 'update', client.clientId, '--grace-seconds', '0']);
      spoil();
      expect(await call(5, strict)).toMatchObject({ code: 0, statuses: ok(5) });
      spoil();
      auth.faultOf = () => (grants().length === 1 ? 'lose the answer' : undefined);
      expect(await call(5, strict)).toMatchObject({ code: 0, statuses: ok(5) });
      expect(grants()).toEqual(['refresh_token', 'refresh_token', 'password']);
    });

    it('logs in again, once, when its session was ended', async () => {
      await ops(['sessions', 'end', '--user', user.email]);
      expect(await call(5)).toMatchObject({ code: 0, statuses: ok(5) });
      expect(grants()).toEqual(['refresh_token', 'password']);
    });

    it('logs in again, once, when its client may refresh no longer', async () => {
      spoil();
      await ops(['clients', 'update', client.clientId, '--grant', 'password']);
      expect(await call(5)).toMatchObject({ code: 0, statuses: ok(5) });
      expect(grants()).toEqual(['refresh_token', 'password']);
    });

    it('tries a wrong password once, however many calls there are, and shows no secret', async () => {
      rmSync(file());
      const { code, output } = await call(10, { USER_PASSWORD: 'canary-password' });
      expect(code).not.toBe(0);
      expect(output).toMatch(/invalid_grant|was refused/);
      const later = await call(1, { USER_PASSWORD: 'canary-password' });
      expect(later.code).not.toBe(0);
      expect(later.output).toContain('was refused');
      expect(grants()).toEqual(['password']);
      for (const secret of ['canary-password', client.clientSecret]) expect(output).not.toContain(secret);
    });
  });
});
