import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from '@aws-sdk/client-cloudformation';
import { describe, expect, it, vi } from 'vitest';
import { stageConfiguration } from '../../../../lib/config.ts';
import { ConfigurationError } from '../../../../lib/stage-files.ts';
import type { Aws, Certificate } from '../../../../ops/preflight/aws.ts';
import { checks, type PreflightWorld } from '../../../../ops/preflight/preflight.ts';
import { runPreflight } from '../../../../ops/preflight/program.ts';
import type { Resource, Template } from '../../../../ops/preflight/synthesis.ts';
import { type StackName, stackNameOf, stackNames } from '../../../../ops/stage/stage-stacks.ts';

const account = '111122223333';
const region = 'sa-east-1';
const now = Date.parse('2026-11-22T00:00:00Z');
const day = 86_400_000;
const none = Object.fromEntries(stackNames.map(name => [name, undefined]));

/** The account's answers, where it is not in the best order, and what the stage's file says. */
interface Case {
  readonly values?: Record<string, unknown>;
  /** Changes of the deployed stacks; `undefined` for one that is missing. */
  readonly stacks?: Partial<Record<StackName, Partial<Stack> | undefined>>;
  readonly next?: Partial<Record<StackName, Template>>;
  readonly deployed?: Partial<Record<StackName, Template>>;
  readonly aws?: Partial<Aws>;
}

const refused =
  (name: string, message = 'User is not authorized') =>
  () =>
    Promise.reject(Object.assign(new Error(message), { name }));

const mfa = 'Profile default requires multi-factor authentication, but no MFA code callback was provided.';

const makeWorld = ({ values = {}, stacks = {}, next = {}, deployed = {}, aws = {} }: Case): PreflightWorld => ({
  configure: stage => stageConfiguration(stage, { account, region, ...values }),
  synthesise: async () => ({
    templates: { Data: {}, Auth: template('Token'), Webhooks: {}, Delivery: {}, ...next },
  }),
  defaultRegion: async () => 'us-east-1',
  connect: () => ({
    caller: async () => ({ account, arn: `arn:aws:iam::${account}:user/ana` }),
    stacks: async () =>
      stackNames.map(name => ({
        name,
        stackName: stackNameOf('dev', name),
        found:
          name in stacks && stacks[name] === undefined
            ? undefined
            : {
                StackName: stackNameOf('dev', name),
                CreationTime: new Date(0),
                StackStatus: 'CREATE_COMPLETE',
                ...stacks[name],
              },
      })),
    deployedTemplate: async stackName => {
      const name = stackName.split('-').at(-1) as StackName;
      return deployed[name] ?? (name === 'Auth' ? template('Token') : {});
    },
    rolledBack: async () => [],
    concurrency: async () => ({ quota: 1_000, unreserved: 1_000 }),
    certificate: async () => undefined,
    regionsOfRoles: async () => [region],
    tables: async () => ({ names: [], isCutOff: false }),
    queues: async () => [],
    mailboxes: async () => new Map(),
    ...aws,
  }),
  now: () => now,
});

/** A template with one function. */
const template = (name: string, properties: Record<string, unknown> = {}): Template => ({
  Resources: {
    [name]: {
      Type: 'AWS::Lambda::Function',
      Properties: { Runtime: 'nodejs24.x', Architectures: ['arm64'], ...properties },
    },
  },
});

const run = async (world: PreflightWorld, ...args: string[]) => {
  const streams = { stdout: '', stderr: '' };
  const into = (name: keyof typeof streams) => ({
    isTTY: false,
    write: (text: string | Uint8Array) => {
      streams[name] += text;
      return true;
    },
  });
  const code = await runPreflight(args, { stdout: into('stdout'), stderr: into('stderr') }, world);
  return { code, ...streams };
};

interface Answer {
  readonly account: string | null;
  readonly command: string | null;
  readonly findings: readonly { check: string; state: string; text: string; todo?: string }[];
}

const check = async (world: PreflightWorld): Promise<Answer & { code: number }> => {
  const { code, stdout, stderr } = await run(world, '--stage', 'dev', '--json');
  expect(stderr).toBe('');
  return { code, ...JSON.parse(stdout) };
};

/** The finding of one check, with the exit code. */
const finding = async (name: string, where: Case) => {
  const { code, findings } = await check(makeWorld(where));
  const found = findings.find(each => each.check === name);
  return { code, state: found?.state, said: `${found?.text} -> ${found?.todo ?? ''}` };
};

const expectOk = async (name: string, where: Case, said: RegExp) =>
  expect(await finding(name, where)).toEqual({ code: 0, state: 'ok', said: expect.stringMatching(said) });
const expectProblem = async (name: string, where: Case, said: RegExp) =>
  expect(await finding(name, where)).toEqual({ code: 1, state: 'problem', said: expect.stringMatching(said) });

describe('a preflight', () => {
  it('names the command where nothing stands in the way, with what was checked, in order', async () => {
    const { code, command, findings } = await check(makeWorld({}));
    expect({ code, command }).toEqual({ code: 0, command: 'npx cdk deploy --all -c stage=dev' });
    expect(findings.map(each => each.check)).toEqual([
      'stage file',
      'credentials',
      'account',
      ...checks.map(({ name }) => name),
    ]);
    expect(new Set(findings.map(({ state }) => state))).toEqual(new Set(['ok']));
    const text = await run(makeWorld({}), '--stage', 'dev');
    expect(text.stdout).toMatch(/^ok {7}protection: .*\n/m);
    expect(text.stdout).toMatch(
      /^Nothing stands in the way of stage dev\. Next: npx cdk deploy --all -c stage=dev\n$/m,
    );
  });

  it('shows each problem with what to do, and no command', async () => {
    const { code, stdout } = await run(
      makeWorld({ aws: { regionsOfRoles: async () => ['us-east-1'] } }),
      '--stage',
      'dev',
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^PROBLEM {2}other Regions: .*\n {9}-> a stage is in one Region: .*$/m);
    expect(stdout).toMatch(/^Do not deploy stage dev yet: 1 problem\.$/m);
    expect(stdout).not.toContain('cdk deploy');
  });

  it('goes on after what it may not read, and says which permission that needs', async () => {
    const denied = makeWorld({ aws: { regionsOfRoles: refused('AccessDenied') } });
    const { code, command, findings } = await check(denied);
    expect({ code, command }).toEqual({ code: 0, command: expect.stringContaining('cdk deploy') });
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([
      { check: 'other Regions', state: 'unknown', text: expect.stringMatching(/may not do that.*iam:ListRoles/) },
    ]);
    expect((await run(denied, '--stage', 'dev')).stdout).toMatch(/stage dev\. 1 could not be checked\. Next:/);
  });

  it.each([
    ['an unknown stage', ['--stage', 'qa'], /^error: option .* is invalid\. Unknown stage "qa": the stages are .*prod/],
    ['the local run', ['--stage', 'local'], /^error: option .* is invalid\. Stage local is what "npm start" runs/],
    ['no stage', [], /--stage/],
    ['an unknown option', ['--stage', 'dev', '--fix'], /unknown option '--fix'/],
  ])('does not understand %s', async (_case, args, message) => {
    const { code, stdout, stderr } = await run(makeWorld({}), ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  it('needs only permissions that the runbook names', () => {
    const runbook = readFileSync(join(import.meta.dirname, '../../../../docs/runbook.md'), 'utf8');
    const section = runbook.split('## Before a deployment')[1]?.split('\n## ')[0];
    for (const permission of checks.flatMap(({ needs }) => needs)) expect(section).toContain(permission);
  });
});

describe('the stage file, credentials and account', () => {
  it('stops at a file that is wrong, before it asks AWS anything', async () => {
    const configure = () => {
      throw new ConfigurationError('Stage dev: stages/dev.ts must give account.');
    };
    const connect = () => expect.fail('AWS was asked');
    const { code, findings } = await check({ ...makeWorld({}), configure, connect });
    expect(code).toBe(1);
    expect(findings).toMatchObject([
      { check: 'stage file', state: 'problem', text: expect.stringMatching(/must give/) },
    ]);
  });

  it('stops at a stage that cannot be synthesised', async () => {
    const synthesise = () => Promise.reject(new Error('AwsSolutions-SQS4'));
    const { code, findings } = await check({ ...makeWorld({}), synthesise });
    expect(code).toBe(1);
    expect(findings).toMatchObject([{ state: 'problem', text: expect.stringContaining('AwsSolutions-SQS4') }]);
  });

  it.each([
    ['missing', 'CredentialsProviderError', 'None: there.', /no usable AWS credentials: .* The SDK says: None$/],
    ['out of date', 'ExpiredToken', 'x-amz-security-token:S', /no usable AWS credentials: (?!.*token)/],
    ['refused in a Region', 'InvalidClientTokenId', 'No', /no usable AWS credentials.*the Region is not enabled/],
    // Bug: they were to sign in, which was done, and to try what worked: the CLI asks for a code, and the SDK does not.
    [
      'of a device',
      'CredentialsProviderError',
      mfa,
      /type export AWS_REGION=\$\{AWS_REGION:-\$\(aws configure get region --profile default\)\}; eval "\$\(.* --profile default .*\)"; unset AWS_PROFILE$/,
    ],
  ])('stops at credentials that are %s', async (_case, name, said, message) => {
    vi.stubEnv('AWS_PROFILE', undefined);
    const { code, findings } = await check(makeWorld({ aws: { caller: refused(name, said) } }));
    vi.unstubAllEnvs();
    expect(code).toBe(1);
    expect(findings.at(-1)).toMatchObject({
      check: 'credentials',
      state: 'problem',
      text: expect.stringMatching(message),
      todo:
        said === mfa ? 'type that, and repeat this' : expect.stringMatching(/^aws sts .*--region .*must work first/),
    });
  });

  it('stops where no Region is known', async () => {
    const defaultRegion = () => Promise.reject(new Error('Region is missing'));
    const world = { ...makeWorld({ values: { account: undefined, region: undefined } }), defaultRegion };
    expect((await check(world)).findings.at(-1)).toMatchObject({
      state: 'problem',
      text: expect.stringMatching(/AWS_REGION/),
      todo: 'export AWS_REGION=…, or write account and region into stages/dev.ts',
    });
  });

  it('stops at another account than the one of the stage', async () => {
    const caller = async () => ({ account: '999999999999', arn: 'arn' });
    const { code, findings, ...rest } = await check(makeWorld({ aws: { caller } }));
    expect({ code, command: rest.command }).toEqual({ code: 1, command: null });
    expect(findings.at(-1)).toMatchObject({
      check: 'account',
      state: 'problem',
      todo: `set AWS_PROFILE to a profile of account ${account}`,
    });
  });

  it('takes the Region and the account of the credentials where the file names none', async () => {
    const world = makeWorld({
      values: { account: undefined, region: undefined },
      aws: { regionsOfRoles: async () => [] },
    });
    expect(await check(world)).toMatchObject({ code: 0, account, region: 'us-east-1' });
  });
});

describe('the concurrency', () => {
  const reserving = (name: string, reserved: number) => template(name, { ReservedConcurrentExecutions: reserved });
  const inAccount = (quota: number, unreserved: number) => ({ concurrency: async () => ({ quota, unreserved }) });

  it.each([
    ['less than the file counts on', 20, 10, 10, 0, 0, /counts on 20 .*L-B99A9384.*or write 10 into/],
    ['a reservation in a new account', 10, 10, 10, 5, 0, /5 would be left, and AWS keeps 10 unreserved/],
    ['a reservation that leaves less than 100', 10, 250, 250, 200, 0, /50 would be left, and AWS keeps 100/],
    ['one beside those of others', 10, 1_000, 250, 200, 0, /and other functions 750: 50 would be left/],
    // Bug: it said that lanes wait for each other.
    ['lanes that leave too little', 1_000, 1_000, 91, 0, 0, /lanes may take 90 of the 91 .* left to the sweeper/],
  ])('refuses %s', async (_case, accountConcurrency, quota, unreserved, wanted, held, message) => {
    const next = { Auth: reserving('Token', wanted) };
    const deployed = { Auth: reserving('Token', held) };
    await expectProblem(
      'concurrency',
      { values: { accountConcurrency }, next, deployed, aws: inAccount(quota, unreserved) },
      message,
    );
  });

  it.each([
    ['nothing reserved in a new account', 10, 10, 0, 0, /10 stay unreserved/],
    ['what leaves 100', 300, 300, 200, 0, /of which 100 stay unreserved/],
    ['what the stage holds already', 1_000, 100, 200, 200, /of which 100 stay unreserved/],
  ])('takes %s', async (_case, quota, unreserved, wanted, held, message) => {
    const [next, deployed] = [{ Auth: reserving('Token', wanted) }, { Auth: reserving('Token', held) }];
    await expectOk('concurrency', { next, deployed, aws: inAccount(quota, unreserved) }, message);
  });

  // Bug: only the end was compared, and Lambda refused the higher value in the middle of the deployment.
  it('is compared while stacks are deployed one by one: the receiver of smoke tests waits for a lower value', () =>
    expectProblem(
      'concurrency',
      {
        next: { Auth: reserving('Token', 898), Smoke: reserving('Receiver', 2) },
        deployed: { Auth: reserving('Token', 900) },
        aws: inAccount(1_000, 100),
      },
      /reserve 902 of 1000 .* 98 would be left, .* -> deploy the stacks with lower values first \(npx cdk deploy Emissor-dev-Auth -c stage=dev\), and the others after that/,
    ));

  it('is read of the account, and told where the file makes the lanes smaller than they may be', () =>
    expectOk(
      'concurrency',
      { aws: inAccount(1_000, 1_000) },
      /the lanes are smaller than they could be: write accountConcurrency: 1000 into stages\/dev\.ts/,
    ));

  it('is enough where the lanes have all of their part', () =>
    expectOk(
      'concurrency',
      { values: { accountConcurrency: 1_000 }, aws: inAccount(1_000, 1_000) },
      /^(?!.*the lanes are smaller)/,
    ));
});

describe('what a stack that is left over reserves', () => {
  it('stays taken: a deployment does not change it', () =>
    expectProblem(
      'concurrency',
      {
        values: { smokeReceiverUrl: 'https://smoke.emissor.com.br' },
        next: { Auth: template('Token', { ReservedConcurrentExecutions: 199 }) },
        deployed: { Smoke: template('Receiver', { ReservedConcurrentExecutions: 2 }) },
        aws: { concurrency: async () => ({ quota: 300, unreserved: 298 }) },
      },
      /other functions 2: 99 would be left/,
    ));
});

describe('the receiver of smoke tests', () => {
  const inAccount = (quota: number) => ({ concurrency: async () => ({ quota, unreserved: quota }) });

  it('is reserved where the account allows it: the file must say what the account has', async () => {
    await expectOk(
      'concurrency',
      { values: { accountConcurrency: 10 }, aws: inAccount(1_000) },
      /the receiver of smoke tests reserves nothing, .* write accountConcurrency: 1000 into stages\/dev\.ts/,
    );
  });

  it.each([
    ['the file says so already', { accountConcurrency: 1_000 }, 1_000],
    ['the account has no room', { accountConcurrency: 10 }, 101],
    ['it is elsewhere', { smokeReceiverUrl: 'https://smoke.emissor.com.br' }, 1_000],
  ])('needs nothing where %s', (_case, values, quota) =>
    expectOk('concurrency', { values, aws: inAccount(quota) }, /^(?!.*receiver of smoke tests)/),
  );
});

describe('certificates', () => {
  const arn = `arn:aws:acm:${region}:${account}:certificate/1`;
  const values = { authDomain: { name: 'auth.acme.com', certificateArn: arn } };
  const issued: Certificate = { status: 'ISSUED', names: ['auth.acme.com'], notAfter: now + 200 * day };
  const with_ = (changes: Partial<Certificate> | undefined): Case => ({
    values,
    stacks: none,
    aws: { certificate: async () => changes && { ...issued, ...changes } },
  });

  it.each([
    ['that is missing', undefined, /there is no certificate arn/],
    ['that is not issued yet', { status: 'PENDING_VALIDATION' }, /PENDING_VALIDATION -> add the DNS records/],
    ['that has ended', { status: 'EXPIRED' }, /is EXPIRED -> request another/],
    ['that ends soon', { notAfter: now + 29 * day }, /ends on 2026-12-21 -> AWS renews/],
    ['for another name', { names: ['base.acme.com', 'acme.com'] }, /is for base\.acme\.com, acme\.com/],
    ['for a wildcard that does not reach', { names: ['*.com', '*.auth.acme.com'] }, /is for \*\.com/],
  ])('refuses one %s', (_case, changes, message) => expectProblem('certificates', with_(changes), message));

  it.each([
    ['for its name', {}],
    ['for a wildcard', { names: ['*.acme.com'] }],
  ])('takes one %s', (_case, changes) => expectOk('certificates', with_(changes), /^auth\.acme\.com until 2027-06-10/));
});

describe('custom domains', () => {
  const certificateArn = `arn:aws:acm:${region}:${account}:certificate/1`;
  const certificate = async () => ({ status: 'ISSUED', names: ['*.acme.com'], notAfter: now + 200 * day });
  const domain = (name: string) => ({ name, certificateArn });
  const both = { authDomain: domain('auth.acme.com'), baseDomain: domain('api.acme.com') };
  const outputsOf = ({ authDomain, baseDomain }: Partial<typeof both>) => ({
    AuthUrl: authDomain ? `https://${authDomain.name}` : 'https://a.execute-api.sa-east-1.amazonaws.com',
    BaseUrl: baseDomain ? `https://${baseDomain.name}` : 'https://b.execute-api.sa-east-1.amazonaws.com',
    ...(authDomain && { AuthDomainTarget: 'd-1.execute-api.sa-east-1.amazonaws.com' }),
    ...(baseDomain && { BaseDomainTarget: 'd-2.execute-api.sa-east-1.amazonaws.com' }),
  });
  const change = (from: Partial<typeof both> | undefined, to: Partial<typeof both>): Case => {
    const Outputs = Object.entries(from ? outputsOf(from) : {}).map(([OutputKey, OutputValue]) => ({
      OutputKey,
      OutputValue,
    }));
    return { values: to, stacks: from ? { Data: { Outputs } } : none, aws: { certificate } };
  };
  const { authDomain } = both;

  it.each<[string, Partial<typeof both> | undefined, Partial<typeof both>, RegExp]>([
    ['both, from the start', undefined, both, /^authDomain and baseDomain are set/],
    ['both, as before', both, both, /^authDomain and baseDomain are set/],
    ['none yet', undefined, {}, /^authDomain and baseDomain not set: domain before the first integrator/],
    ['none', {}, {}, /^authDomain and baseDomain not set: domain before the first integrator/],
    ['one', { authDomain }, { authDomain }, /^baseDomain not set: domain before the first integrator/],
  ])('may be %s', (_case, from, to, said) => expectOk('custom domains', change(from, to), said));

  it.each<[string, Partial<typeof both>, Partial<typeof both>, RegExp]>([
    ['added', {}, both, /of authDomain and baseDomain change: .* no integrators yet, deploy in spite of/],
    ['added to another one', { authDomain }, both, /of baseDomain change: .* -> restore baseDomain in/],
    ['removed', both, { authDomain }, /of baseDomain change: /],
    ['replaced', both, { ...both, authDomain: domain('login.acme.com') }, /of authDomain change: .* access tokens/],
  ])('of a stage with integrators are not %s', (_case, from, to, said) =>
    expectProblem('custom domains', change(from, to), said),
  );
});

describe('roll-backs', () => {
  const alias = (name: string, UpdatePolicy?: object): Template => ({
    Resources: { [`${name}Live0A1B2C3D`]: { Type: 'AWS::Lambda::Alias', ...(UpdatePolicy && { UpdatePolicy }) } },
  });
  const [gradual, atOnce] = [alias('Token', { CodeDeployLambdaAliasUpdate: {} }), alias('Token')];
  const now_ = (state: 'rolled back' | 'returned' | 'shifting', name = 'Token') => ({
    rolledBack: async () => [{ function: name, from: 5, to: 4, at: 'then', state }],
  });

  it.each<[string, Template, ReturnType<typeof now_> | object, 'ok' | 'problem', RegExp]>([
    ['none, at once', atOnce, {}, 'ok', /no function is rolled back/],
    ['none, gradually', gradual, {}, 'ok', /no function is rolled back/],
    [
      'one that stands, at once',
      atOnce,
      now_('rolled back'),
      'ok',
      /from 5 to 4 .* If it fails, .* npm run ops -- --stage dev rollback, at once/,
    ],
    [
      'one that stands, gradually',
      gradual,
      now_('rolled back'),
      'problem',
      /may shift Token from what was taken back -> set gradual: false in stages\/dev\.ts for this deployment/,
    ],
    ['one of a function that is never shifted', gradual, now_('rolled back', 'Sweep'), 'ok', /Sweep \(from 5 to 4/],
    [
      'one that a failed deployment undid, at once',
      atOnce,
      now_('returned'),
      'problem',
      /Token is at 5 again, .* -> npm run ops -- --stage dev rollback, at once/,
    ],
    ['one that a failed deployment undid, gradually', gradual, now_('returned'), 'problem', /Token is at 5 again/],
    [
      'an alias that still shifts, at once',
      atOnce,
      now_('shifting'),
      'problem',
      /Token still shifts to 5 -> npm run ops -- --stage dev rollback/,
    ],
    ['an alias that still shifts, gradually', gradual, now_('shifting'), 'problem', /Token still shifts to 5/],
  ])('%s', async (_case, Auth, aws, state, said) => {
    const found = await finding('roll-backs', { next: { Auth }, aws });
    expect(found).toEqual({ code: state === 'ok' ? 0 : 1, state, said: expect.stringMatching(said) });
  });
});

describe('protection', () => {
  const values = { removalPolicy: 'retain', protection: true };
  it('is refused for a stage that is not there, or not whole', async () => {
    await expectProblem(
      'protection',
      { values, stacks: none },
      /first deployment of Emissor-dev-Data, .* -> write protection: false/,
    );
    const stacks = { Data: { StackStatus: 'ROLLBACK_COMPLETE' } as const, Auth: undefined };
    await expectProblem('protection', { values, stacks }, /first deployment of Emissor-dev-Data, Emissor-dev-Auth: /);
    await expectOk('protection', { values }, /^on/);
  });
  it('stays on where the data stack is there: its tables must not lose theirs', async () => {
    const stacks = { Auth: { StackStatus: 'ROLLBACK_COMPLETE' } as const };
    await expectOk(
      'protection',
      { values, stacks },
      /^on, and must stay on\. If the first deployment of Emissor-dev-Auth fails, .* protection off that one stack/,
    );
  });
  it('does not keep a stage that is there from getting its smoke test', () =>
    expectOk('protection', { values, stacks: { Smoke: undefined } }, /^on/));
  it('is asked for where the stage is there and keeps data', async () => {
    await expectOk('protection', { values: { removalPolicy: 'retain' } }, /although the stage keeps data/);
    await expectOk('protection', { values: { removalPolicy: 'retain' }, stacks: none }, /switch it on after that/);
  });
});

describe('a stage of the same name', () => {
  // Bug: nothing said that a deployment in an emergency brought all that main had since the release.
  it('is told of where its version is another one', async () => {
    const outputs = (OutputValue: string) => ({ Outputs: [{ OutputKey: 'ServiceVersion', OutputValue }] });
    const stacks = { Data: outputs('0.2.0'), Auth: outputs('0.2.0') };
    const next = (Value: string) => ({ Data: { Outputs: { ServiceVersion: { Value } } } });
    await expectOk(
      'version',
      { stacks, next: next('0.3.0') },
      /^0\.2\.0 is deployed, .* 0\.3\.0: a repair .*Releasing/,
    );
    await expectOk('version', { stacks, next: next('0.2.0') }, /^0\.2\.0, as what was deployed last -> $/);
    await expectOk('version', { stacks: none, next: next('0.2.0') }, /^0\.2\.0, the first that is deployed -> $/);
  });
  it('in another Region is refused', async () => {
    const regionsOfRoles = async () => [region, 'eu-west-1'];
    await expectProblem('other Regions', { aws: { regionsOfRoles } }, /deployed in eu-west-1 of this account already/);
  });
});

describe('what an earlier deployment left', () => {
  const names = ['Emissor-dev-Data-Clients1-A'];
  const aws = {
    tables: async () => ({ names, isCutOff: false }),
    queues: async (prefix: string) =>
      ['Emissor-dev-Data-AlarmMails1-C', 'Emissor-dev-Delivery-Events1-B']
        .filter(name => name.startsWith(prefix))
        .map(name => `https://sqs.sa-east-1.amazonaws.com/1/${name}`),
  };
  const values = { removalPolicy: 'retain' };
  it('must be looked at before the first deployment', () =>
    expectProblem(
      'left-overs',
      { values, aws, stacks: none },
      /3 tables and queues remain .*: 2 of Emissor-dev-Data \(Emissor-dev-Data-Clients1-A, …\), 1 of Emissor-dev-Delivery \(Emissor-dev-Delivery-Events1-B\)\. The stage would begin without/,
    ));
  it('does not stand in the way of a stage that is there, or keeps nothing', async () => {
    await expectOk('left-overs', { values, aws }, /nobody uses them/);
    await expectOk('left-overs', { aws, stacks: none }, /nobody uses them/);
  });
  it('is not what the stage has', () => {
    const Outputs = [{ OutputKey: 'ClientsTable', OutputValue: names[0] }];
    return expectOk('left-overs', { aws: { tables: aws.tables }, stacks: { Data: { Outputs } } }, /nothing remains/);
  });
});

describe('the recipients of alarms', () => {
  const values = { alarmRecipients: ['ops@acme.com'] };
  const stacks = { Data: { Outputs: [{ OutputKey: 'TicketsTopicArn', OutputValue: `arn:aws:sns:${region}:1:t` }] } };
  const subscribed = (state: 'confirmed' | 'not confirmed') => ({
    mailboxes: async () => new Map([['ops@acme.com', state]]),
  });
  const asked: Record<string, Resource> = {
    Subscription: { Type: 'AWS::SNS::Subscription', Properties: { Endpoint: 'ops@acme.com' } },
  };
  it('must have confirmed', async () => {
    await expectProblem(
      'alarm recipients',
      { values, stacks, aws: subscribed('not confirmed') },
      /did not confirm.*--region sa-east-1/,
    );
    await expectOk('alarm recipients', { values, stacks, aws: subscribed('confirmed') }, /ops@acme\.com confirmed/);
  });
  it('are told apart: new ones, and those that AWS dropped', async () => {
    await expectOk('alarm recipients', { values, stacks }, /gets an e-mail by this deployment/);
    const deployed = { Data: { Resources: asked } };
    await expectProblem(
      'alarm recipients',
      { values, stacks, deployed },
      /has no subscription any more.* -> aws sns sub/,
    );
    await expectOk(
      'alarm recipients',
      { values, stacks: none },
      /must confirm the e-mails that come with the first deployment/,
    );
  });
});
