import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { LocalRun } from '../../tools/support/local-run.ts';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { until } from '../support/e2e-poll.ts';
import { describeWith, startOwnRun } from '../support/e2e-target.ts';

// Keys concern everybody who has a token, so these suites have a run of their own. Functions keep the keyring for half a
// minute. What a rotation does is therefore looked for in functions that have not been called before it, and in further
// processes of those that have: several requests at once need several.

interface Key {
  readonly kind: string;
  readonly generation: number;
  readonly keyId: string;
  readonly state: string;
}
type Tokens = Record<'access_token' | 'refresh_token', string>;

/** By then each process has read the keyring anew, and a moment has passed. Milliseconds. */
const keyringLifetime = 35_000;

let run: LocalRun;
beforeAll(async () => {
  run = await startOwnRun();
}, 120_000);
afterAll(() => run.stop());

const call = (...args: string[]) => runOpsInProcess(['--outputs', run.outputsFile, 'keys', ...args]);
const keys = async <Answer = Key[]>(...args: string[]): Promise<Answer> => {
  const words = ['--outputs', run.outputsFile, '--json', 'keys', ...args];
  const { code, stdout, stderr } = await runOpsInProcess(words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};
const states = async (kind: string) => (await keys('list', '--kind', kind)).map(({ state }) => state);

const post = async (endpoint: string, form: Record<string, string>) => {
  const { AuthUrl, Demo } = run.outputs;
  const body = new URLSearchParams({ client_id: Demo.ClientId, client_secret: Demo.ClientSecret, ...form });
  return fetch(`${AuthUrl}/oauth/v1/${endpoint}`, { method: 'POST', body });
};
const tokens = async (form: Record<string, string>): Promise<Tokens> => {
  const response = await post('token', form);
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
};
const logIn = () =>
  tokens({ grant_type: 'password', username: run.outputs.Demo.Username, password: run.outputs.Demo.Password });
const refresh = (refreshToken: string) => tokens({ grant_type: 'refresh_token', refresh_token: refreshToken });
const atOnce = <Value>(times: number, action: () => Promise<Value>) =>
  Promise.all(Array.from({ length: times }, action));
const isActive = async (token: string) =>
  ((await (await post('introspect', { token })).json()) as { active: boolean }).active;

describeWith(['local'], 'ops keys', () => {
  let before: Tokens;
  beforeAll(async () => {
    before = await logIn(); // the keyring is now in one process of the token function
  });

  it('lists keys by kind, with the state the clock gives them', async () => {
    expect((await keys('list')).map(({ kind, generation, state }) => [kind, generation, state])).toEqual([
      ['signing', 1, 'active'],
      ['mac', 1, 'active'],
      ['sealing', 1, 'active'],
    ]);
    const { stdout } = await call('list', '--kind', 'signing');
    expect(stdout).toMatch(
      /^KIND +GENERATION +KEY ID +ALGORITHM +STATE +ACTIVE FROM\nsigning +1 +\w{22} +ES256 +active /,
    );
  });

  it('rotates what is due and nothing else, as the scheduled function does', async () => {
    expect(await keys('rotate')).toEqual(
      ['signing', 'mac', 'sealing'].map(kind => ({ kind, created: null, removed: [] })),
    );
    expect((await keys('list')).length).toBe(3);
  });

  describe('rotate --now', () => {
    let made: Key;
    beforeAll(async () => {
      const [signing] = await keys<{ kind: string; created: Key }[]>('rotate', '--now', '--kind', 'signing');
      expect(signing).toMatchObject({ kind: 'signing', created: { state: 'active', generation: 2 }, removed: [] });
      made = signing?.created as Key;
    });

    it('publishes a new signing key beside the old one, which still verifies', async () => {
      expect(await states('signing')).toEqual(['retiring', 'active']);
      const url = new URL(`${run.outputs.AuthUrl}/.well-known/jwks.json`);
      const { keys: published } = (await (await fetch(url)).json()) as { keys: { kid: string }[] };
      const oldKeyId = decodeProtectedHeader(before.access_token).kid;
      expect(published.map(({ kid }) => kid)).toEqual([oldKeyId, made.keyId]);

      const { payload } = await jwtVerify(before.access_token, createRemoteJWKSet(url), { algorithms: ['ES256'] });
      expect(payload.iss).toBe(run.outputs.AuthUrl);
      const response = await fetch(`${run.outputs.BaseUrl}/v1/webhooks`, {
        headers: { authorization: `Bearer ${before.access_token}` },
      });
      expect(response.status).toBe(200);
    });

    it('is followed by new logins', async () => {
      await until(
        'a login signed by the new key',
        async () => {
          const signedBy = (await atOnce(3, logIn)).map(token => decodeProtectedHeader(token.access_token).kid);
          return signedBy.includes(made.keyId) ? true : undefined;
        },
        keyringLifetime,
      );
    });

    it('of the MAC key leaves every refresh token good, with one successor', async () => {
      const { refresh_token: old } = await logIn();
      await keys('rotate', '--now', '--kind', 'mac');
      const answers = await atOnce(4, () => refresh(old)); // processes that know the new key, and one that does not
      const successors = new Set(answers.map(answer => answer.refresh_token));
      expect(successors.size).toBe(1);
      const [successor = ''] = successors;
      expect((await refresh(successor)).refresh_token).not.toBe(successor);
    });
  });

  describe('rotate --revoke', () => {
    it('is not to be had for sealing keys', async () => {
      const refused = await call('rotate', '--revoke', '--kind', 'sealing');
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toMatch(/^error: sealing keys are never revoked: .*\n$/);
    });

    it('is refused without a terminal unless --yes says so', async () => {
      const before = await keys('list');
      const refused = await call('rotate', '--revoke', '--kind', 'signing');
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toMatch(/^error: This ends every access token of .*\. .*add --yes\.\n$/);
      expect(await keys('list')).toEqual(before);
    });

    it('of signing keys ends the access tokens they signed, and no session, also by a clock that is ahead', async () => {
      const { now } = Date;
      const machine = vi.spyOn(Date, 'now').mockImplementation(() => now() + 120_000);
      const rotated = call('rotate', '--now', '--revoke', '--kind', 'signing', '--yes');
      const { stdout, stderr } = await rotated.finally(() => machine.mockRestore());
      expect(stderr).toMatch(/^warning: this machine's clock is \d+ seconds ahead of that of .*\n$/);
      expect(stdout).toMatch(/^signing: key \w{22} is active, .*; deleted generation 1, 2\.\n/);
      expect(await states('signing')).toEqual(['active']);
      expect(await isActive(before.access_token)).toBe(false);
      await until(
        'an access token of the new key',
        async () => {
          const renewed = await atOnce(12, () => refresh(before.refresh_token));
          const active = await Promise.all(renewed.map(token => isActive(token.access_token)));
          return active.includes(true) ? true : undefined;
        },
        keyringLifetime,
      );
    });

    it('of all kinds ends the sessions too, and keeps the sealing keys', async () => {
      const results = await keys<{ kind: string; removed: number[] }[]>('rotate', '--revoke', '--yes');
      expect(results.map(({ kind, removed }) => [kind, removed])).toEqual([
        ['signing', [3]],
        ['mac', [1, 2]],
        ['sealing', []],
      ]);
      expect(await states('mac')).toEqual(['active']);
      expect(await states('sealing')).toEqual(['retiring', 'active']);
    });
  });
});
