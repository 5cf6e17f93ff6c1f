import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';

vi.setConfig({ testTimeout: 60_000 }); // each command is a process, which starts slowly on a busy machine

const root = join(import.meta.dirname, '../../..');
let dynalite: Dynalite;
let directory: string;
beforeAll(async () => {
  dynalite = await startDynalite('Users', 'Logins');
  directory = mkdtempSync(join(tmpdir(), 'emissor-ops-password-'));
  const outputs = {
    DynamoDbEndpoint: dynalite.endpoint,
    Region: 'sa-east-1',
    UsersTable: 'Users',
    LoginsTable: 'Logins',
  };
  writeFileSync(join(directory, 'outputs.json'), JSON.stringify(outputs));
  writeFileSync(join(directory, 'short.json'), JSON.stringify({ ...outputs, PasswordMinimumLength: '8' }));
});
afterAll(async () => {
  await dynalite.stop();
  rmSync(directory, { recursive: true });
});

let users = 0;

/** Creates a user with what is given on standard input as the password. */
const create = async (input: string, { outputs = 'outputs', more = [] as string[] } = {}) => {
  const named = ['--email', `user${++users}@example.com`, '--account', 'acme', '--role', 'member'];
  const words = ['bin/ops.ts', '--outputs', join(directory, `${outputs}.json`), '--json', 'users', 'create', ...named];
  const child = spawn(process.execPath, [...words, ...more], { cwd: root });
  child.stdin.end(input);
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
};

describe('a password that an operator sets', () => {
  it.each([
    ['nothing', '', 'empty'],
    ['a NUL', 'nul\0 in the middle of it', 'NUL'],
    ['too many bytes', 'x'.repeat(400) + 'é'.repeat(400), 'longer than 1024 bytes'],
    ['a short one, an accent counted with its letter', 'catorze letra\u0301s', '14 characters; at least 15'],
    ['a common one in other letters', '1Qaz2wsx3edc4rfv', 'most common'],
    ['a common one over and over', '123456123456123456', 'most common'],
    ['a common one begun again', '123456789012345', 'most common'],
    ['one character', 'aaaaaaaaaaaaaaaa', 'most common'],
  ])('is refused when it is %s', async (_, password, reason) => {
    const refused = await create(password);
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(reason) });
    if (password !== '') expect(refused.stderr).not.toContain(password);
  });

  it('is taken when it is long enough and nobody’s first guess', async () => {
    for (const password of ['correct horse battery', ' Senha 7f3a, ção ']) {
      expect(await create(password)).toMatchObject({ code: 0 });
    }
  });

  it('may be shorter where the stage says so, and no less common', async () => {
    expect(await create('k7#mQ2vT', { outputs: 'short' })).toMatchObject({ code: 0 });
    expect((await create('k7#mQ2v', { outputs: 'short' })).stderr).toContain('at least 8');
    expect((await create('password1', { outputs: 'short' })).stderr).toContain('most common');
  });

  it('is made on request and shown, a new one each time', async () => {
    const more = ['--generate-password'];
    const made = await Promise.all([1, 2].map(async () => JSON.parse((await create('', { more })).stdout).password));
    for (const password of made) expect(password).toMatch(/^[0-9A-Za-z]{22}$/);
    expect(made[0]).not.toBe(made[1]);
  });
});
