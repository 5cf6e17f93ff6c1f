import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { runOpsInProcess } from '../../../../tools/support/ops.ts';

// Exit code 2: the command line is invalid. Exit code 1: the command was rejected or failed. Both write one line to standard error.

const folder = mkdtempSync(path.join(tmpdir(), 'emissor-ops-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => void vi.unstubAllEnvs());

const expectOneLine = async (code: number, message: RegExp, args: readonly string[]) => {
  const { stderr, ...result } = await runOpsInProcess(args);
  expect(result).toEqual({ code, stdout: '' });
  expect(stderr).toMatch(message);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  const json = await runOpsInProcess(['--json', ...args]);
  expect(json).toMatchObject({ code, stdout: '' });
  const error = stderr.trimEnd().replace(/^error: /, '');
  expect(JSON.parse(json.stderr)).toEqual({ error, code: code === 2 ? 'usage' : 'failed', exitCode: code });
};

const proposal = 'publish --account a --event proposta.recebida --demand 1';
const replay = 'deliveries replay --account a --event demanda.criada --state failed';
const reserved = /'_smoke' is invalid\. "_smoke" is reserved for smoke tests/;
const cancel = 'deliveries replay --cancel reenvio_0000000000000000000000';

it.each<[string, RegExp, ...more: string[]]>([
  ['clinets list', /unknown command 'clinets' \(Did you mean clients\?\)/],
  ['clients lst', /unknown command 'lst' \(Did you mean list\?\)/],
  ['clients list --jsno', /unknown option '--jsno' \(Did you mean --json\?\)/],
  ['clients create --name x', /--grant/],
  ['clients create --name x --grant implicit', /password, refresh_token/],
  ['clients create --name x --grant password', /exactly one of --account <id> .* and --any-account/],
  ['clients create --name x --grant password --account a --any-account', /exactly one of --account <id>/],
  ['clients create --grant password --name', /--name.*1 to 100/, ' '],
  [`clients create --name ${'x'.repeat(101)}`, /--name.*1 to 100/],
  ['clients create --name', /--name.*on one line/, 'a\nb'],
  ['clients create --grace-seconds 3601', /--grace-seconds.*to 3600/],
  ['clients create --account a/b', /--account.*letters, digits/],
  ['clients update x', /Specify at least one setting/],
  ['clients rotate-secret x --drop-newest --drop-oldest', /--drop-newest.*cannot be used with.*--drop-oldest/],
  ['keys list --kind master', /signing, mac, encryption/],
  ['keys rotate --kind mac', /--kind requires --now/],
  ['users import', /missing required argument/],
  ['users set-role a@b.example.com owner', /admin, member/],
  ['users create --email ana@', /--email.*must be an e-mail address/],
  ['users create --email ana@acme..com', /--email.*domain that is not a valid/],
  ['users set-email x ana\u200b@acme.com', /contains .* U\+200B/],
  ['publish --event demanda.criada --demand 1 --account', /--account/, 'a b'],
  ['publish --account a --event x --demand 1', /--event.*demanda\.criada/],
  [proposal, /: proposta\.recebida cannot be published: --proposal is missing\.$/m],
  [`${proposal} --proposal 1 --id`, /published: --id must be a string of 1 to 128 characters\.$/m, ''],
  [`${proposal} --demand 1e3`, /--demand/],
  ['deliveries list --state delivered', /--state delivered requires --account/],
  ['deliveries list --state delivered --event demanda.criada', /--state delivered requires --account/],
  ['deliveries list --since 1h --until 1h', /--until must be later than --since/],
  ['deliveries replay --event demanda.criada --state failed --since 1h', /--event requires --account/],
  ['deliveries replay --account a --event demanda.criada --since 2h', /--state and --since are required/],
  ['deliveries replay --state delivered', /failed, held/],
  [`${replay} --since 1h --until 2h`, /--until must be later than --since/],
  ['deliveries replay --cancel x', /"reenvio_" and 22/],
  [`${cancel} --account a`, /--cancel requires --account and --event/],
  [`${cancel} --account a --event demanda.criada --state failed`, /--cancel excludes --state/],
  [`${cancel} --account a --event demanda.criada --since 1h`, /--cancel excludes/],
  ['events find --account a --id x', /--account, --event and --id/],
  ['events find some-message --id x', /Specify one event/],
  ['dlq discard --yes', /Specify the messages to discard/],
  ['dlq discard x --reason malformed --yes', /Specify the messages to discard/],
  ['dlq discard --reason boring', /malformed, unknown_event/],
  ['dlq discard', /must be a message id/, 'a b'],
  ['smoke --timeout 4', /--timeout.*from 5 to 120/],
  ['smoke --timeout 121', /--timeout.*from 5 to 120/],
  ['--stage qa clients list', /Unknown stage "qa": the stages are .*prod.*\. For a new stage, copy/],
  ['--stage dev --outputs x clients list', /cannot be used with/],
  ['clients create --name x --grant password --account _smoke', reserved],
  ['clients update x --account _smoke', reserved],
  [`${proposal} --account _smoke`, reserved],
  ['users create --email a@b.com --role admin --account _smoke', reserved],
])('ops %s is invalid', (words, message, ...more) => expectOneLine(2, message, [...words.split(' '), ...more]));

it.each([[[]], [['clients']]])('ops --json reports a missing command as one object: %j', async args => {
  const { code, stdout, stderr } = await runOpsInProcess(['--json', ...args]);
  const error = expect.stringMatching(/^No command was specified/);
  expect([code, stdout, JSON.parse(stderr)]).toEqual([2, '', { error, code: 'usage', exitCode: 2 }]);
});

const ended = { ClientsTable: 'clients', DynamoDbEndpoint: 'http://127.0.0.1:1', Region: 'us-east-1' };
it.each([
  ['an outputs file that is missing', undefined, /Could not read/],
  ['an invalid outputs file', 'no JSON', /not an outputs file/],
  ['outputs of another version', '{}', /has no output "ClientsTable"/],
  ['a run that has ended', JSON.stringify(ended), /No service responds/],
])('ops rejects %s in one line', async (title, content, message) => {
  const file = path.join(folder, title);
  if (content !== undefined) writeFileSync(file, content);
  await expectOneLine(1, message, ['--outputs', file, 'clients', 'list']);
});

// Commander quotes surplus arguments and the values of unknown options.
it.each(['S3cret', '-pS3cret', '-p=S3cret', '--password=S3cret', '--generate-password=S3cret'])(
  'ops never quotes a password from the command line: %s',
  async word => {
    const { stderr } = await runOpsInProcess(['users', 'set-password', 'ana@example.com', word]);
    expect(stderr).not.toContain('S3cret');
    await expectOneLine(2, /too many arguments|unknown option/, ['users', 'set-password', 'ana@example.com', word]);
  },
);

it('ops --stage reports missing credentials, Region or profile', async () => {
  for (const name of Object.keys(process.env).filter(name => name.startsWith('AWS_'))) vi.stubEnv(name, undefined);
  vi.stubEnv('HOME', '/nonexistent');
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  const config = path.join(folder, 'config');
  const role = 'role_arn = arn:aws:iam::1:role/a\nsource_profile = keys\nmfa_serial = arn:aws:iam::1:mfa/a\n';
  const keys = 'aws_access_key_id = a\naws_secret_access_key = b\n';
  writeFileSync(config, `[profile coded]\n${role}[profile keys]\n${keys}`);
  vi.stubEnv('AWS_CONFIG_FILE', config);
  const list = ['--stage', 'dev', 'clients', 'list'];
  for (const [region, message] of [
    ['us-east-1', /no usable AWS credentials\. Sign in/],
    [undefined, /No AWS Region\. Set AWS_REGION/],
  ] as const) {
    vi.stubEnv('AWS_REGION', region);
    vi.stubEnv('AWS_PROFILE', undefined);
    await expectOneLine(1, message, list);
    vi.stubEnv('AWS_PROFILE', 'nobody');
    await expectOneLine(1, /^error: [Nn]o .*profile "nobody" \(AWS_PROFILE\).*(Choose|choose) another/, list);
    vi.stubEnv('AWS_PROFILE', 'coded');
    if (region)
      await expectOneLine(1, /^error: the AWS profile "coded" requires multi-factor .*; unset AWS_PROFILE\n$/, list);
  }
});
