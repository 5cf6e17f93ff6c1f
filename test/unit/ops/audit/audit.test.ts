import { userInfo } from 'node:os';
import { CreateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { startLogs } from '@emissor/cloud/logs';
import { afterAll, describe, expect, it } from 'vitest';
import { openAuditLog } from '../../../../ops/audit/audit-log.ts';
import { localTarget } from '../../../../ops/stage/target.ts';
import { auditedCommands } from '../../../../tools/support/ops.ts';
import { tableDefinition } from '../../../../tools/support/tables.ts';
import { type Conditions, fail, interrupt, startOperatedTables } from '../../../support/operated-tables.ts';
import { aWebhook } from '../../delivery/builders.ts';

// A command writes an audit line before it writes data or discloses a body. If it cannot write the line, the command fails.

const operated = await startOperatedTables();
afterAll(() => operated.stop());
const { json, run, under, trail } = operated;

const create = 'clients create --name Audited --grant password --any-account';
const countClients = async () => (await json('clients list')).length;

describe('the audit line of a command', () => {
  it('contains the change before the write, and the target after the write', async () => {
    await json(create);
    let started: unknown;
    const readTrail = async () => {
      started = (await trail())[0];
    };
    const { clientId } = await under({ before: ['Put', 1, readTrail] }).json(create);
    const change = { grants: ['password'], anyAccount: true };
    const line = { command: 'clients create', caller: `local:${userInfo().username}`, parts: [], change };
    expect(started).toMatchObject({ ...line, target: {}, outcome: 'started' });
    const completed = { target: { client: clientId }, outcome: 'done', errorName: null };
    const times = { at: expect.any(String), endedAt: expect.any(String) };
    expect(await trail()).toEqual([{ ...line, ...completed, ...times, id: expect.stringMatching(/^\w{22}$/) }]);
    const { stdout } = await run('audit list --limit 1');
    expect(stdout).toMatch(/^STARTED +CALLER +COMMAND +TARGET AND CHANGE +OUTCOME\n/);
    expect(stdout).toContain(`client ${clientId}`);
    expect(stdout).toContain('Only the first 1 are shown. Use a larger --limit to see more.');
  });

  it.each([
    ['two minutes ahead', 120_000, 'ahead of'],
    ['eight days behind', -8 * 86_400_000, 'behind'],
  ])('has AWS’s time if the local clock is %s, and the command warns', async (_case, off, reported) => {
    const skewed = under({ hasDates: true, time: { now: () => Date.now() + off } });
    const { code, stdout, stderr } = await skewed.run(`--json ${create}`);
    expect([code, stderr]).toEqual([0, expect.stringMatching(` seconds ${reported} the clock of `)]);
    const [line] = await trail();
    for (const time of [line?.at, line?.endedAt, JSON.parse(stdout).createdAt])
      expect(Math.abs(Date.parse(time ?? '') - Date.now())).toBeLessThan(30_000);
  });

  it('contains the name of an error but not its message', async () => {
    const [{ userId }, { email }] = [await operated.createUser(), await operated.createUser()];
    expect((await run(`users set-email ${userId} ${email}`)).stderr).toContain(email);
    const [line] = await trail();
    expect(line).toMatchObject({ outcome: 'failed', errorName: 'CliError', target: { user: userId } });
    expect(JSON.stringify(line)).not.toContain(email);
  });

  it.each([
    ['the log does not respond', { LogsEndpoint: 'http://127.0.0.1:1' }, /No service responds/],
    ['the stage has no such log group', { AuditLogGroup: undefined }, /Deploy or start this version first/],
  ])('is required: a command fails before its write if %s', async (_case, outputs, why) => {
    const before = await countClients();
    const { code, stdout, stderr } = await under({ outputs }).run(create);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^error: The command did not run, because it could not write its audit line: /);
    expect(stderr).toMatch(why);
    expect(await countClients()).toBe(before);
  });

  it('does not hide the result of the command if it cannot be completed', async () => {
    const logs = await startLogs();
    const ending = under({ outputs: { LogsEndpoint: logs.endpoint }, before: ['Put', 1, () => logs.stop()] });
    const { code, stdout, stderr } = await ending.run(create);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/client_secret +\w{43}\n/)]);
    expect(stderr).toMatch(/^warning: could not complete the audit line/);
  });

  it('contains only valid message ids, and at most 100', async () => {
    const id = '87d3a375-8574-4978-998f-80aa10f241f1';
    await run('--yes', 'dlq', 'discard', 'a-pasted-secret', ...Array.from({ length: 150 }, () => id));
    expect((await trail())[0]?.target).toEqual({ messages: Array.from({ length: 100 }, () => id) });
  });

  it('contains the changed roles, scopes, accounts, secrets and keys', async () => {
    const { email } = await operated.createUser();
    const { clientId } = await operated.createClient();
    const rows: [command: string, change: object][] = [
      [`users set-role ${email} member`, { role: 'member' }],
      [`clients update ${clientId} --scope webhooks:read`, { scopes: ['webhooks:read'] }],
      [`clients update ${clientId} --account acme`, { account: 'acme' }],
      [`clients update ${clientId} --no-account`, { noAccount: true }],
      [`clients rotate-secret ${clientId} --overlap-seconds 0`, { overlapSeconds: 0 }],
      [`clients rotate-secret ${clientId}`, { overlapSeconds: 86_400 }],
      ['keys rotate --kind signing --now', { now: true }],
      ['keys rotate --kind signing --revoke', { now: true, revoke: true }],
    ];
    for (const [words] of rows) await json(words);
    const lines = (await trail(rows.length)).toReversed();
    expect(lines.map(({ change }) => change)).toEqual(rows.map(([, change]) => change));
  });
});

describe('a command that fails half-way', () => {
  const prepare = async (command: string, items: number) => {
    if (command === 'accounts delete') {
      await operated.createUser('half');
      await operated.put('Webhooks', aWebhook({ accountId: 'half' }));
      return 'accounts delete half';
    }
    const [TableName, { client }] = [`Clients-restored-${items}`, operated.database];
    const definition = { BillingMode: 'PAY_PER_REQUEST', ...tableDefinition('Clients') } as const;
    await client.send(new CreateTableCommand({ TableName, ...definition }));
    await waitUntilTableExists({ client, minDelay: 1, maxDelay: 1, maxWaitTime: 10 }, { TableName });
    await operated.put(TableName, ...Array.from({ length: items }, (_, at) => ({ clientId: `${items}-${at}` })));
    return `tables copy clients ${TableName}`;
  };

  it.each<[string, number, NonNullable<Conditions['before']>]>([
    ['tables copy', 2, ['Put', 2, fail]],
    ['accounts delete', 2, ['TransactWrite', 1, fail]],
    ['tables copy', 200, ['Put', 1, interrupt]],
    ['accounts delete', 200, ['TransactWrite', 1, interrupt]],
  ])('reports its results to the operator and in the audit line: %s of %i items', async (command, items, before) => {
    const words = await prepare(command, items);
    const [message, count] = before.includes(fail)
      ? [/^warning: before the failure.*count 1\nerror: .*half-way/m, 1]
      : [/^error: Interrupted\. Run the same command again to continue/m, expect.any(Number)];
    const stderr = expect.stringMatching(message);
    expect(await under({ before }).run(`--yes ${words}`)).toEqual({ code: 1, stdout: '', stderr });
    expect(await trail()).toMatchObject([{ command, outcome: 'failed', target: { count } }]);
  });
});

describe('the audit trail', () => {
  it('has a line for each command that writes data or shows a body, without secrets, e-mail addresses or bodies', async () => {
    const canary = 'canary';
    const email = `${canary}@acme.example`;
    const password = `${canary}-horse-battery`;
    const body = JSON.stringify({ id_conta: 'acme', event: 'demanda.criada', note: canary });
    const messageId = await operated.send('dead', body);
    const { clientId, clientSecret } = await operated.createClient(canary);
    const webhook = ['--account', 'acme', '--event', 'demanda.criada'];
    const commands: readonly (readonly string[])[] = [
      ['users', 'create', '--email', email, '--account', 'acme', '--role', 'admin'],
      ['users', 'import', '/dev/null'],
      ['accounts', 'export', 'nobody', '--out', '/dev/null'],
      ['accounts', 'delete', 'nobody'],
      ['webhooks', 'suspend', ...webhook],
      ['users', 'set-role', email, 'member'],
      ...['set-password', 'unlock', 'disable', 'enable'].map(verb => ['users', verb, email]),
      ['users', 'set-email', email, `new-${email}`],
      ['sessions', 'end', '--user', `new-${email}`],
      ['users', 'delete', `new-${email}`],
      ['clients', 'update', clientId, '--name', `${canary} too`],
      ...['disable', 'enable', 'rotate-secret', 'delete'].map(verb => ['clients', verb, clientId]),
      ['publish', ...webhook, '--demand', '1', '--id', email],
      ...['reactivate', 'test'].map(verb => ['webhooks', verb, ...webhook]),
      ['deliveries', 'resend', `evt_${'x'.repeat(27)}`],
      ['deliveries', 'show', `evt_${'x'.repeat(27)}`, '--body'],
      ['deliveries', 'replay', ...webhook, '--state', 'failed', '--since', '1h'],
      ['deliveries', 'replay', '--state', 'held', '--since', '1h'],
      ['keys', 'rotate'],
      ['support', 'nobody'],
      ['dlq', 'list'],
      ['dlq', 'show', messageId],
      ['dlq', 'redrive'],
      ['dlq', 'discard', messageId],
      ['rollback', '0.2.0-abc'],
      ['tables', 'copy', 'users', 'nothing'],
      ['smoke', '--timeout', '5'],
      ['smoke', 'rotate-credentials'],
      ['smoke', 'remove'],
      // An operator may paste a secret instead of an id.
      ...['show', 'update', 'disable', 'rotate-secret', 'delete'].map(verb => ['clients', verb, clientSecret]),
      ...['show', 'disable', 'unlock', 'set-password', 'delete'].map(verb => ['users', verb, clientSecret]),
      ['sessions', 'end', clientSecret],
      ['dlq', 'show', clientSecret],
      ['dlq', 'discard', clientSecret],
    ];
    for (const words of commands) await under({ input: password }).run('--yes', '--json', ...words); // many commands change no item

    const records = await trail(1_000);
    expect([...new Set(records.map(({ command }) => command))].sort()).toEqual(await auditedCommands());
    expect(records.filter(({ outcome }) => outcome === 'started')).toEqual([]);
    const reported = JSON.stringify(records);
    for (const secret of [canary, password, clientSecret, email]) expect(reported).not.toContain(secret);
    expect(reported).toContain(clientId);
  });
});

it('ops audit list shows a few ids, or the number of many ids, and all ids as JSON', async () => {
  const users = Array.from({ length: 100 }, (_, at) => `user${String(at).padStart(18, '0')}`);
  const line = await openAuditLog(localTarget(operated.outputs)).start('users import', {});
  await line.continue({ users });
  await line.complete('done', { count: 100, accounts: ['acme', 'bolt'] });
  const { stdout } = await run('audit list');
  expect(stdout).toMatch(/ {2}count 100, accounts acme bolt +done\n/);
  expect(stdout.split('\n').filter(line => line.length > 120)).toEqual([]);
  const [record] = await trail();
  expect(record).toMatchObject({ target: { count: 100, accounts: ['acme', 'bolt'] }, parts: [{ users }] });
});

it('ops audit list limits commands, not their further lines, and reports if it stops early', async () => {
  const log = openAuditLog(localTarget(operated.outputs));
  await (await log.start('before', {})).complete('done', {});
  const long = await log.start('long', {});
  for (let part = 0; part < 3; part++) await long.continue({ user: `u${part}` });
  await (await log.start('meanwhile', {})).complete('done', {});
  for (let part = 3; part < 400; part++) await long.continue({ user: `u${part}` });
  const list = async (limit: number) => {
    const { stdout, stderr } = await run(`audit list --json --limit ${limit}`);
    const found = JSON.parse(stdout).map(
      ({ command, parts }: { command: string; parts: object[] }) => `${command} ${parts.length}`,
    );
    return [...found, stderr];
  };
  expect(await list(3)).toEqual(['meanwhile 0', 'long 400', 'before 0', '']);
  await long.complete('done', {});
  expect(await list(2)).toEqual(['long 400', 'meanwhile 0', '']);
  expect(await list(1)).toEqual(['long 397', expect.stringMatching(/"warning":"The audit trail .* read back to 20/)]);
});
