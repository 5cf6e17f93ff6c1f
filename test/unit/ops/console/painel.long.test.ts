import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const nobody = 'http://127.0.0.1:2'; // fetch itself refuses port 1
/** Runs the panel against a service that does not answer, with what is piped into it. */
const run = (input: string) =>
  spawnSync(process.execPath, ['ops/console/painel.ts', '--auth', nobody, '--base', nobody], {
    ...{ input, encoding: 'utf8', timeout: 20_000 },
  });

it.each(['', 'client\nsecret\n', 'client\nsecret\nuser'])('a panel whose input ends early says so: %j', input => {
  const { status, stdout, stderr } = run(input);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toBe('error: the input ended before client_id, client_secret, username and password were read\n');
});

it('takes credentials whose last line does not end', () => {
  const { status, stderr } = run('client\nsecret\nuser\npassword');
  expect([status, stderr]).toEqual([1, 'error: The service did not answer. ECONNREFUSED\n']);
});
