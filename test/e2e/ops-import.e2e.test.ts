import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hash as bcrypt } from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { passwordGrant } from '../../tools/support/service-client.ts';
import { createClient, createUser, getTokens, postToken } from '../support/e2e-accounts.ts';
import { ops } from '../support/e2e-ops.ts';
import { plant, run } from '../support/e2e-target.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'emissor-import-'));
});
afterAll(() => rm(folder, { recursive: true }));

const here = (...args: string[]) => runOpsInProcess(['--outputs', run.outputsFile, ...args]);

async function fileOf(...lines: (object | string)[]): Promise<string> {
  const file = path.join(folder, unique());
  await writeFile(file, lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  return file;
}

describe('ops users import', () => {
  it('lets a user of another system in with their password, hashed by bcrypt', async () => {
    const client = await createClient();
    const user = { email: `${unique()}@example.com`, password: `pa ss+é ${unique()}` };
    const password_hash = await bcrypt(user.password, 6);
    plant(user.password);
    plant(password_hash);
    const file = await fileOf({ email: user.email.toUpperCase(), account: 'acme', role: 'admin', password_hash });
    const imported = await here('users', 'import', file);
    expect(imported).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^warning: hashes weaker than ours, .*: 1\.\n$/),
      stdout: expect.stringMatching(/^Users created: 1. There already, and left as they are: 0.\n$/),
    });

    expect((await postToken(passwordGrant(client, { ...user, password: 'wrong' }))).status).toBe(400);
    await getTokens(passwordGrant(client, user));
    await getTokens(passwordGrant(client, user)); // by the hash that replaced it
    expect(await ops(['users', 'show', user.email])).toMatchObject({ accountId: 'acme', role: 'admin' });
    expect(await ops(['users', 'import', file])).toMatchObject({ created: 0, existing: 1 });
    await getTokens(passwordGrant(client, user));
  });

  it('tells programs the counts and what could not be imported, in one object', async () => {
    const taken = await createUser();
    const line = { account: 'elsewhere', role: 'member', password_hash: await bcrypt('x', 6) };
    const file = await fileOf({ ...line, email: `${unique()}@example.com` }, '{', '', { ...line, email: taken.email });
    const { code, stdout, stderr } = await here('--json', 'users', 'import', file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({
      warnings: [
        'line 2: it is not JSON: each line is an object of its own.',
        'line 4: a user of another account has this e-mail address.',
        'hashes weaker than ours, until the first login of each user: bcrypt: 1.',
      ],
      code: 'refused',
      exitCode: 1,
      lines: 3,
      created: 1,
      existing: 0,
      taken: 1,
      wrong: 1,
    });
  });

  it('takes an empty file, and says which it cannot read', async () => {
    expect(await ops(['users', 'import', await fileOf()])).toMatchObject({ lines: 0, created: 0 });
    const missing = await here('users', 'import', path.join(folder, 'none'));
    expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/cannot be read \(ENOENT\)/) });
    expect(await here('users', 'import', folder)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\(EISDIR\)/),
    });
    expect(await here('users', 'import')).toMatchObject({ code: 2 });
  });
});
