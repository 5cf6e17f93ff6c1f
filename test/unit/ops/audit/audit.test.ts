import { userInfo } from 'node:os';
import { type LogService, startLogs } from '@emissor/cloud/logs';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { audited } from '../../../../ops/audit/audit.ts';
import { type ListedCommand as AuditRecord, openAuditLog } from '../../../../ops/audit/audit-log.ts';
import { CliError } from '../../../../ops/stage/operator.ts';
import { makeTarget, type Target } from '../../../../ops/stage/target.ts';
import { thisWorld } from '../../../../ops/stage/world.ts';
import { runOpsOn } from '../../../../tools/support/ops.ts';
import { aTask } from '../a-task.ts';

let logs: LogService;
let warnings: string[];
beforeEach(async () => {
  await logs?.stop();
  logs = await startLogs();
  warnings = [];
});
afterAll(() => logs.stop());

const targetOf = (outputs: Record<string, string> = {}, world = thisWorld): Target =>
  makeTarget(
    {
      label: 'the test',
      outputs: { LogsEndpoint: logs.endpoint, Region: 'us-east-1', AuditLogGroup: 'audit', ...outputs },
      unreachable: 'nothing answers.',
    },
    world,
  );
const taskOn = (target: Target) => aTask(target, { warn: text => void warnings.push(text) });
const trail = () => openAuditLog(targetOf()).list(Date.now() - 60_000, 100);

it('begins a line before the write, and completes it afterwards with what is known then', async () => {
  const create = audited('things create', {
    effect: 'writes',
    act: async ({ nameDone }, account: string) => {
      expect(await trail()).toMatchObject([{ outcome: 'begun', target: { account } }]);
      nameDone({ client: 'c1' });
      return 'c1';
    },
    subject: (_task, account) => ({ account }),
  });
  expect(await create(taskOn(targetOf()), 'acme')).toBe('c1');
  expect(await trail()).toEqual([
    {
      message: 'operator.ended',
      id: expect.stringMatching(/^[0-9A-Za-z]{22}$/),
      at: expect.any(String),
      caller: `local:${userInfo().username}`,
      command: 'things create',
      target: { account: 'acme', client: 'c1' },
      outcome: 'done',
      endedAt: expect.any(String),
      parts: [],
    },
  ]);
});

it.each([
  ['two minutes ahead', 120_000, 'ahead of'],
  ['eight days behind', -8 * 86_400_000, 'behind'],
])(
  'writes at the target’s time where the machine’s clock is %s, gives it to the action, and tells',
  async (_case, off, told) => {
    const target = targetOf({}, { ...thisWorld, time: { ...systemTime, now: () => Date.now() + off } });
    const write = audited('things create', { effect: 'writes', act: async task => task.target.clock.now() });
    const given = await write(taskOn(target), {});
    expect(Math.abs(given - Date.now())).toBeLessThan(30_000);
    const [line] = await trail();
    for (const time of [line?.at, line?.endedAt]) {
      expect(Math.abs(Date.parse(time ?? '') - Date.now())).toBeLessThan(30_000);
    }
    expect(warnings).toEqual([expect.stringContaining(` seconds ${told} that of the test`)]);
  },
);

it('tells the name of an error and never its message', async () => {
  const fail = audited('things delete', {
    effect: 'writes',
    act: async () => {
      throw new CliError('ana@acme.com.br is no user');
    },
  });
  await expect(fail(taskOn(targetOf()), {})).rejects.toThrow('ana@acme.com.br');
  const lines = await trail();
  expect(lines).toMatchObject([{ outcome: 'failed', errorName: 'CliError' }]);
  expect(JSON.stringify(lines)).not.toContain('ana@');
});

it.each([
  ['the log does not answer', { LogsEndpoint: 'http://127.0.0.1:1' }, /nothing answers/],
  ['the stage has no such log group', { AuditLogGroup: undefined as never }, /deploy or start this version first/],
])('refuses a write where %s', async (_case, outputs, why) => {
  let written = 0;
  const write = audited('things create', {
    effect: 'writes',
    act: async () => {
      written += 1;
    },
  });
  const refusal = await write(taskOn(targetOf(outputs)), {}).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(CliError);
  expect((refusal as CliError).message).toMatch(/^nothing was done, because no audit line of it could be begun: /);
  expect((refusal as CliError).message).toMatch(why);
  expect(written).toBe(0);
});

it('gives the answer of a write whose line could not be completed, and tells', async () => {
  const write = audited('things create', {
    effect: 'writes',
    act: async () => {
      await logs.stop();
      return 'the secret that is shown once';
    },
  });
  expect(await write(taskOn(targetOf()), {})).toBe('the secret that is shown once');
  expect(warnings).toEqual([expect.stringContaining('could not be completed')]);
});

it('audits a look at a body, and no read', async () => {
  const show = audited('things show', {
    effect: 'looks',
    act: async (_task, _options: { body: boolean }) => 1,
    isLook: ({ body }) => body,
  });
  await audited('things list', { effect: 'reads', act: async () => 1 })(taskOn(targetOf()), {});
  await show(taskOn(targetOf()), { body: false });
  expect(await trail()).toEqual([]);
  await show(taskOn(targetOf()), { body: true });
  expect(await trail()).toMatchObject([{ command: 'things show', outcome: 'done' }]);
});

it('lists the newest commands first, each once, up to a limit, and what was never completed', async () => {
  const log = openAuditLog(targetOf());
  for (const command of ['first', 'second']) await (await log.begin(command, {})).complete('done', {});
  await log.begin('third', {});
  const commands = async (limit: number) =>
    (await log.list(Date.now() - 60_000, limit)).map(({ command, outcome }) => `${command} ${outcome}`);
  expect(await commands(100)).toEqual(['third begun', 'second done', 'first done']);
  expect(await commands(2)).toEqual(['third begun', 'second done']);
  expect(await log.list(Date.now() + 60_000, 100)).toEqual([]);
});

it('names of what was typed for message ids those that are some, and not more than a hundred', async () => {
  const log = openAuditLog(targetOf());
  const id = '87d3a375-8574-4978-998f-80aa10f241f1';
  await log.begin('dlq discard', { messages: ['a-pasted-secret', ...Array.from({ length: 150 }, () => id)] });
  const [line] = await log.list(Date.now() - 60_000, 1);
  expect(line?.target).toEqual({ messages: Array.from({ length: 100 }, () => id) });
});

it('tells what a command was asked to change, and what was done before it failed', async () => {
  const move = audited('things move', {
    effect: 'writes',
    act: async ({ nameDone, nameMore }, _given: { role: string; quiet?: boolean }) => {
      nameDone({ count: 1, accounts: ['a'] });
      await nameMore({ users: ['u1', 'u2'] });
      nameDone({ count: 2 });
      throw new Error('half-way');
    },
    subject: () => ({ account: 'acme' }),
    change: ({ role, quiet }) => ({ role, quiet, scopes: ['read', 'write'] }),
  });
  await expect(move(taskOn(targetOf()), { role: 'admin' })).rejects.toThrow('half-way');
  const [line] = await trail();
  expect(line).toMatchObject({
    outcome: 'failed',
    target: { account: 'acme', count: 2, accounts: ['a'] },
    change: { role: 'admin', scopes: ['read', 'write'] },
    parts: [{ users: ['u1', 'u2'] }],
  });
  expect(line?.change).not.toHaveProperty('quiet');
});

it('keeps a begun change that is never completed', async () => {
  await openAuditLog(targetOf()).begin('keys rotate', { all: 'signing' }, { revoke: true, now: undefined });
  expect(await trail()).toMatchObject([{ outcome: 'begun', change: { revoke: true } }]);
});

// Bug: after an import each row was as wide as a hundred ids.
it('lists few ids by their names, and many by their number, which programs are given', async () => {
  const users = Array.from({ length: 100 }, (_, at) => `user${String(at).padStart(18, '0')}`);
  const line = await openAuditLog(targetOf()).begin('users import', {});
  await line.continue({ users });
  await line.complete('done', { count: 100, accounts: ['acme', 'bolt'] });
  const list = (...args: string[]) => runOpsOn(targetOf().outputs, 'audit', 'list', ...args);
  const { stdout } = await list();
  expect(stdout).toMatch(/ {2}count 100, accounts acme bolt +- +done\n/);
  const [record]: AuditRecord[] = JSON.parse((await list('--json')).stdout);
  expect(record).toMatchObject({ target: { count: 100, accounts: ['acme', 'bolt'] }, parts: [{ users }] });
});

// Bug: each further line of an import counted as a command, so that an import of 10,000 users hid all before it.
it('counts commands and not their further lines, and says where it read no further', async () => {
  const log = openAuditLog(targetOf());
  await (await log.begin('before', {})).complete('done', {});
  const long = await log.begin('long', {});
  for (let part = 0; part < 3; part++) await long.continue({ user: `u${part}` });
  await (await log.begin('meanwhile', {})).complete('done', {});
  for (let part = 3; part < 400; part++) await long.continue({ user: `u${part}` });
  const list = async (limit: number) => {
    const { stdout, stderr } = await runOpsOn(targetOf().outputs, 'audit', 'list', '--json', '--limit', `${limit}`);
    const found = JSON.parse(stdout).map(({ command, parts }: AuditRecord) => `${command} ${parts.length}`);
    return [...found, stderr];
  };
  expect(await list(3)).toEqual(['meanwhile 0', 'long 400', 'before 0', '']);
  await long.complete('done', {});
  expect(await list(2)).toEqual(['long 400', 'meanwhile 0', '']);
  expect(await list(1)).toEqual(['long 397', expect.stringMatching(/"warning":"the trail .* read back to 20/)]);
});
