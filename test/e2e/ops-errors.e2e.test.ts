import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { run } from '../support/e2e-target.ts';

/** One line on standard error, nothing on standard output, and no stack trace. */
const expectOneLine = async (code: number, message: RegExp, args: string[], input?: string) => {
  const result = await runOpsInProcess(args, input);
  expect(result).toMatchObject({ code, stdout: '' });
  expect(result.stderr).toMatch(message);
  expect(result.stderr.trimEnd().split('\n')).toHaveLength(1);
};

const folder = mkdtempSync(path.join(tmpdir(), 'emissor-ops-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ended = { ClientsTable: 'clients', DynamoDbEndpoint: 'http://127.0.0.1:1', Region: 'us-east-1' };

describe('ops says what is wrong in one line', () => {
  const proposal = ['publish', '--account', 'a', '--event', 'proposta.recebida', '--demand', '1'];
  const replay = ['deliveries', 'replay', '--account', 'a', '--event', 'demanda.criada'];
  const create = ['users', 'create', '--email', 'a@b.example.com', '--account', 'a', '--role', 'admin'];

  it.concurrent.each([
    ['an unknown command', ['clinets', 'list'], /unknown command 'clinets' \(Did you mean clients\?\)/],
    ['an unknown subcommand', ['clients', 'lst'], /unknown command 'lst' \(Did you mean list\?\)/],
    ['an unknown option', ['clients', 'list', '--jsno'], /unknown option '--jsno' \(Did you mean --json\?\)/],
    [
      'a replay of an event of all accounts',
      ['deliveries', 'replay', '--event', 'demanda.criada', '--state', 'falhou', '--since', '1h'],
      /--event needs --account/,
    ],
    ['a missing option', ['clients', 'create', '--name', 'x'], /--grant/],
    ['an unknown grant', ['clients', 'create', '--name', 'x', '--grant', 'implicit'], /password, refresh_token/],
    ['an unknown kind of key', ['keys', 'list', '--kind', 'master'], /signing, mac, sealing/],
    ['an unknown role', ['users', 'set-role', 'a@b.example.com', 'owner'], /admin, member/],
    ['a client without a name', ['clients', 'create', '--grant', 'password', '--name', ' '], /--name.*1 to 100/],
    ['a client name over 100 characters', ['clients', 'create', '--name', 'x'.repeat(101)], /--name.*1 to 100/],
    ['a client name on two lines', ['clients', 'create', '--name', 'a\nb'], /--name.*on one line/],
    ['a grace period out of bounds', ['clients', 'create', '--grace-seconds', '3601'], /--grace-seconds.*to 3600/],
    ['an account of a client out of bounds', ['clients', 'create', '--account', 'a/b'], /--account.*letters, digits/],
    ['no e-mail address', ['users', 'create', '--email', 'ana@'], /--email.*must be an e-mail address/],
    ['an invalid domain', ['users', 'create', '--email', 'ana@acme..com'], /--email.*domain that is not a valid/],
    ['an invisible character', ['users', 'set-email', 'x', 'ana\u200b@acme.com'], /contains .* U\+200B/],
    ['an account id out of bounds', ['publish', '--account', 'a b', '--event', 'x', '--demand', '1'], /--account/],
    ['an unknown event', ['publish', '--account', 'a', '--event', 'x', '--demand', '1'], /--event.*demanda\.criada/],
    [
      'an event without its proposal',
      proposal,
      /: proposta\.recebida cannot be published so: --proposal is missing\.$/m,
    ],
    ['a replay without a state', [...replay, '--since', '2h'], /--state/],
    ['a replay of another state', [...replay, '--since', '2h', '--state', 'entregue'], /falhou, retida/],
    [
      'a replay that ends before it begins',
      [...replay, '--state', 'falhou', '--since', '1h', '--until', '2h'],
      /--until must be later than --since/,
    ],
    ['an event by half its names', ['events', 'find', '--account', 'a', '--id', 'x'], /--account, --event and --id/],
    ['an event by two names', ['events', 'find', 'some-message', '--id', 'x'], /name one event/],
    ['dead letters that nobody names', ['dlq', 'discard', '--yes'], /by their ids, or by --reason/],
    [
      'an empty id',
      [...proposal, '--proposal', '1', '--id', ''],
      /so: --id must be a string of 1 to 128 characters\.$/m,
    ],
    ['a number that is none', [...proposal, '--demand', '1e3'], /--demand/],
    ['a client with nothing to change', ['clients', 'update', 'x'], /nothing to change/],
    [
      'an unknown stage',
      ['--stage', 'qa', 'clients', 'list'],
      /Unknown stage "qa": the stages are .*prod.*\. For a new one, copy/,
    ],
    ['two targets', ['--stage', 'dev', '--outputs', 'x', 'clients', 'list'], /cannot be used with/],
  ])('%s', (_title, args, message) => expectOneLine(2, message, args));

  it.concurrent('an unknown client or user', async () => {
    const disable = ['--outputs', run.outputsFile, 'clients', 'disable', 'nobody'];
    await expectOneLine(1, /no client "nobody"/, disable);
    const nobody = 'nobody@e2e.example.com';
    await expectOneLine(1, /no user "nobody@e2e/, ['--outputs', run.outputsFile, 'users', 'disable', nobody]);
  });

  it.concurrent.each([
    ['an empty password', '\n', /password is empty/],
    ['a password with NUL', 'a\0b', /NUL/],
    ['a password over 1,024 bytes', 'é'.repeat(513), /longer than 1024 bytes/],
  ])('%s', (_title, input, message) =>
    expectOneLine(
      1,
      message,
      ['--outputs', run.outputsFile, ...create, '--email', `${unique()}@e2e.example.com`],
      input,
    ),
  );

  it.concurrent.each([
    ['an outputs file that is missing', undefined, /cannot be read/],
    ['an outputs file that is none', 'no JSON', /not an outputs file/],
    ['outputs of another version', '{}', /has no output "ClientsTable"/],
    ['a run that has ended', JSON.stringify(ended), /nothing answers/],
  ])('%s', async (_title, content, message) => {
    const file = path.join(folder, `${unique()}.json`);
    if (content !== undefined) writeFileSync(file, content);
    await expectOneLine(1, message, ['--outputs', file, 'clients', 'list']);
  });

  it('missing credentials', async () => {
    for (const name of Object.keys(process.env).filter(name => name.startsWith('AWS_'))) vi.stubEnv(name, undefined);
    vi.stubEnv('HOME', '/nonexistent');
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    const config = path.join(folder, 'config');
    const role = 'role_arn = arn:aws:iam::1:role/a\nsource_profile = keys\nmfa_serial = arn:aws:iam::1:mfa/a\n';
    const keys = 'aws_access_key_id = a\naws_secret_access_key = b\n';
    writeFileSync(config, `[profile coded]\n${role}[profile keys]\n${keys}`);
    vi.stubEnv('AWS_CONFIG_FILE', config);
    const list = ['--stage', 'dev', 'clients', 'list'];
    try {
      for (const [region, message] of [
        ['us-east-1', /no usable AWS credentials: sign in/],
        [undefined, /no AWS region: set AWS_REGION/],
      ] as const) {
        vi.stubEnv('AWS_REGION', region);
        vi.stubEnv('AWS_PROFILE', undefined);
        await expectOneLine(1, message, list);
        vi.stubEnv('AWS_PROFILE', 'nobody');
        await expectOneLine(1, /^error: no .*profile "nobody" \(AWS_PROFILE\).*(Name|name) another/, list);
        vi.stubEnv('AWS_PROFILE', 'coded');
        if (region) await expectOneLine(1, /^error: the AWS profile "coded" asks for .*; unset AWS_PROFILE\n$/, list);
      }
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('ops --json', () => {
  const expectJson = async (args: string[], code: 'usage' | 'refused', message: RegExp) => {
    const result = await runOpsInProcess(['--json', ...args]);
    const exitCode = code === 'usage' ? 2 : 1;
    expect(result).toMatchObject({ code: exitCode, stdout: '' });
    expect(JSON.parse(result.stderr)).toEqual({ error: expect.stringMatching(message), code, exitCode });
  };

  it.concurrent.each<[string, string[], 'usage' | 'refused', RegExp]>([
    ['an unknown command', ['clinets'], 'usage', /^unknown command 'clinets' \(Did you mean clients\?\)$/],
    ['a command without its verb', ['clients'], 'usage', /^a command is missing/],
    ['no command', [], 'usage', /^a command is missing/],
    ['a missing option', ['publish'], 'usage', /^required option '--account/],
    ['an event that cannot be', ['events', 'find'], 'usage', /^name one event/],
    ['a missing run', ['--outputs', '/nonexistent', 'keys', 'list'], 'refused', /cannot be read/],
    ['what nobody confirmed', ['--outputs', run.outputsFile, 'keys', 'rotate', '--revoke'], 'refused', /add --yes\.$/],
  ])('tells %s as one object on standard error', (_title, args, code, message) => expectJson(args, code, message));
});
