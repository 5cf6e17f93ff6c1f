import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from '@aws-sdk/client-cloudformation';
import { describe, expect, it } from 'vitest';
import { stageConfiguration } from '../../../../lib/config.ts';
import type { AwsClient } from '../../../../ops/stage/aws-clock.ts';
import { type StackName, stackNameOf, stackNames } from '../../../../ops/stage/stage-stacks.ts';
import { checks } from '../../../../ops/status/checks.ts';
import { findBeforeDeployment } from '../../../../ops/status/preflight.ts';
import type { Template } from '../../../../ops/status/synthesis.ts';
import { runOpsOn } from '../../../../tools/support/ops.ts';

const account = '111122223333';
const region = 'sa-east-1';
const none = Object.fromEntries(stackNames.map(name => [name, undefined]));

/** A stage, and the answers of AWS, if they are not the best ones. */
interface Case {
  readonly stage?: 'dev' | 'prod';
  readonly values?: Record<string, unknown>;
  /** Changes of the deployed stacks; `undefined` for one that is missing. */
  readonly stacks?: Partial<Record<StackName, Partial<Stack> | undefined>>;
  readonly next?: Partial<Record<StackName, Template>>;
  readonly before?: Partial<Record<StackName, Template>>;
  /** Answers by the name of the command. */
  readonly answers?: Readonly<Record<string, (input: Record<string, string>) => object>>;
}

const fail = (name: string) => () => Promise.reject(Object.assign(new Error('refused'), { name }));
const quotaOf = (ConcurrentExecutions: number, UnreservedConcurrentExecutions = ConcurrentExecutions) => ({
  GetAccountSettingsCommand: () => ({ AccountLimit: { ConcurrentExecutions, UnreservedConcurrentExecutions } }),
});

const find = ({ stage = 'dev', values = {}, stacks = {}, next = {}, before = {}, answers = {} }: Case) => {
  const best: Case['answers'] = {
    ...quotaOf(1_000),
    GetTemplateCommand: ({ StackName = '' }) => ({
      TemplateBody: JSON.stringify(before[StackName.split('-').at(-1) as StackName] ?? {}),
    }),
    ListRolesCommand: () => ({ Roles: [{ Path: `/emissor/${stage}/${region}/` }] }),
    ...answers,
  };
  const deployed = {
    configuration: stageConfiguration(stage, { account, region, ...values }),
    ...{ account, region },
    stacks: stackNames.map(name => {
      const stackName = stackNameOf(stage, name);
      const isMissing = name in stacks && stacks[name] === undefined;
      const there = { StackName: stackName, CreationTime: new Date(0), StackStatus: 'CREATE_COMPLETE' as const };
      return { name, stackName, found: isMissing ? undefined : { ...there, ...stacks[name] } };
    }),
  };
  const send = async (command: { readonly constructor: { readonly name: string }; readonly input: never }) =>
    best[command.constructor.name]?.(command.input) ?? {};
  const connect = (Service: new (settings: object) => AwsClient) => Object.assign(new Service({ region }), { send });
  const templates = { Data: {}, Auth: {}, Webhooks: {}, Delivery: {}, ...next };
  const target = { deployed, outputs: {}, connect, unreachable: 'AWS does not answer.' } as never;
  return findBeforeDeployment(
    target,
    async () => ({ templates }),
    () => {},
  );
};

const sentences = async (of: Case) => (await find(of)).problems.map(({ check, sentence }) => `${check}: ${sentence}`);
const aFunction = (name: string, reserved: number): Template => ({
  Resources: {
    [name]: { Type: 'AWS::Lambda::Function', Properties: { ReservedConcurrentExecutions: reserved } },
  },
});

describe('the preflight', () => {
  it('finds nothing at a stage where all is well, deployed or not', async () => {
    expect(await find({})).toEqual({ stage: 'dev', account, region, problems: [], unread: [] });
    expect(await find({ stacks: none })).toMatchObject({ problems: [], unread: [] });
  });

  it('continues after a check that it cannot make, and says which permission is missing', async () => {
    const { problems, unread } = await find({ answers: { ListRolesCommand: fail('AccessDenied') } });
    expect(problems).toEqual([]);
    expect(unread).toEqual([{ check: 'other Regions', sentence: expect.stringContaining('Access denied') }]);
  });

  it('is in the runbook with all its checks', () => {
    const runbook = readFileSync(join(import.meta.dirname, '../../../../docs/runbook.md'), 'utf8');
    const section = runbook.split('## Before a deployment')[1]?.split('\n## ')[0] ?? '';
    const listed = [...section.matchAll(/^- \*\*(.+?):\*\* /gm)].map(([, name]) => name);
    const asked = checks.filter(({ when }) => when !== 'status').map(({ name }) => name);
    expect(listed.toSorted()).toEqual(asked.toSorted());
  });

  it('refuses a local run', async () => {
    expect(await runOpsOn({}, ['preflight'])).toMatchObject({ code: 1, stderr: expect.stringContaining('--stage') });
  });
});

const topic: Template = { Resources: { Topic: { Type: 'AWS::SNS::Topic' } } };
const table: Template = { Resources: { Users: { Type: 'AWS::DynamoDB::Table' } } };
const arn = `arn:aws:acm:${region}:${account}:certificate/1`;
const ofDomain = { authDomain: { name: 'auth.acme.com', certificateArn: arn } };
const certificate = (changes: object | undefined) => ({
  DescribeCertificateCommand: changes
    ? () => ({ Certificate: { Status: 'ISSUED', DomainName: 'auth.acme.com', ...changes } })
    : fail('ResourceNotFoundException'),
});
const withUrl = (AuthUrl: string, AuthDomainTarget?: string) => ({
  Data: {
    Outputs: Object.entries({ AuthUrl, AuthDomainTarget }).flatMap(([OutputKey, OutputValue]) =>
      OutputValue === undefined ? [] : [{ OutputKey, OutputValue }],
    ),
  },
});
const leftOver = {
  ListTablesCommand: () => ({ TableNames: ['Emissor-dev-Data-Clients1-A', 'Emissor-dev-Data2-B'] }),
  ListQueuesCommand: ({ QueueNamePrefix = '' }) => ({
    QueueUrls: QueueNamePrefix.includes('Delivery') ? ['https://sqs/1/Emissor-dev-Delivery-Events1-B'] : [],
  }),
};
const prod = { demandsUrl: 'https://acme.com', docsUrl: 'https://acme.com/docs', alarmRecipients: ['ops@acme.com'] };
const retain = { removalPolicy: 'retain' };
const owned = { Data: { Tags: [{ Key: 'owner', Value: 'payments' }] } };

describe('the preflight reports', () => {
  it.each<[string, Case, RegExp]>([
    // Bug: it reported neither, and the deployment failed at once.
    [
      'a failed rollback',
      { stacks: { Auth: { StackStatus: 'UPDATE_ROLLBACK_FAILED' } } },
      /^stacks: .*Emissor-dev-Auth is in state UPDATE_ROLLBACK_FAILED.* npx cdk rollback Emissor-dev-Auth -c stage=dev/,
    ],
    [
      'an update in progress',
      { stacks: { Auth: { StackStatus: 'UPDATE_ROLLBACK_IN_PROGRESS' } } },
      /^stacks: .*UPDATE_ROLLBACK_IN_PROGRESS: .* Wait until it has ended/,
    ],
    [
      'a protected stack that cannot be deleted',
      { stacks: { Auth: { StackStatus: 'ROLLBACK_COMPLETE', EnableTerminationProtection: true } } },
      /^stacks: .*update-termination-protection/,
    ],
    [
      'a missing bootstrap',
      { answers: { GetParameterCommand: fail('ParameterNotFound') } },
      /^bootstrap: .*npx cdk bootstrap -c stage=dev/,
    ],
    [
      'a quota below the file',
      { values: { accountConcurrency: 20 }, answers: quotaOf(10) },
      /^concurrency: .*accountConcurrency to 20.*L-B99A9384.*or set accountConcurrency to 10/,
    ],
    [
      'a reservation in a new account',
      { next: { Auth: aFunction('Token', 5) }, answers: quotaOf(10) },
      /^concurrency: .*5 would be left, and AWS requires 10 unreserved/,
    ],
    [
      'a reservation that leaves less than 100',
      { next: { Auth: aFunction('Token', 200) }, answers: quotaOf(250) },
      /^concurrency: .*50 would be left, and AWS requires 100/,
    ],
    [
      'a reservation alongside others',
      { next: { Auth: aFunction('Token', 200) }, answers: quotaOf(1_000, 250) },
      /^concurrency: .*other functions reserve 750: 50 would be left/,
    ],
    // Bug: only the end was compared, and Lambda refused the higher value in the middle of the deployment.
    [
      'reservations that do not fit while stacks are deployed one by one',
      {
        before: { Auth: aFunction('Token', 150), Webhooks: aFunction('WebhooksApi', 50) },
        next: { Auth: aFunction('Token', 100), Webhooks: aFunction('WebhooksApi', 100) },
        answers: quotaOf(300, 100),
      },
      /^concurrency: .* up to 250 of 300 .*: 50 would be left.* deploy the lower value first/,
    ],
    [
      'lanes that leave too little',
      { values: { accountConcurrency: 1_000 }, answers: quotaOf(1_000, 91) },
      /^concurrency: the lanes may use 90 of the 91 /,
    ],
    ['a missing certificate', { values: ofDomain, answers: certificate(undefined) }, /^certificates: there is no cert/],
    [
      'a certificate that is not issued',
      { values: ofDomain, answers: certificate({ Status: 'PENDING_VALIDATION' }) },
      /^certificates: .*Add the DNS records/,
    ],
    [
      'a certificate that has ended',
      { values: ofDomain, answers: certificate({ Status: 'EXPIRED' }) },
      /^certificates: .*is EXPIRED\. Request/,
    ],
    [
      'a certificate for other names',
      { values: ofDomain, answers: certificate({ DomainName: '*.com', SubjectAlternativeNames: ['*.auth.acme.com'] }) },
      /^certificates: .*is for \*\.com and \*\.auth\.acme\.com/,
    ],
    [
      'a stage with customers without domains',
      { stage: 'prod', values: prod },
      /^domains: .*authDomain and baseDomain/,
    ],
    [
      'a domain that is added to a deployed stage',
      { values: ofDomain, answers: certificate({}), stacks: withUrl('https://x.execute-api.sa-east-1.amazonaws.com') },
      /^domains: .*the URL that authDomain names/,
    ],
    [
      'a domain that is removed',
      { stacks: withUrl('https://auth.acme.com', 'd-1.execute-api.sa-east-1.amazonaws.com') },
      /^domains: .*Restore authDomain/,
    ],
    [
      'a domain that is replaced',
      {
        values: ofDomain,
        answers: certificate({}),
        stacks: withUrl('https://login.acme.com', 'd-1.execute-api.sa-east-1.amazonaws.com'),
      },
      /^domains: .*Restore authDomain/,
    ],
    [
      'protection before the first deployment',
      { values: { ...retain, protection: true }, stacks: none },
      /^protection: .*Set protection: false/,
    ],
    [
      'a stage of another owner',
      { values: { tags: { owner: 'ana' } }, stacks: owned },
      /^owner: .*belongs to payments.*names ana/,
    ],
    [
      'a stage in another Region',
      { answers: { ListRolesCommand: () => ({ Roles: [{ Path: '/emissor/dev/eu-west-1/' }] }) } },
      /^other Regions: .*in eu-west-1 of this account/,
    ],
    [
      'left-overs',
      { values: retain, stacks: none, answers: leftOver },
      /^left-overs: 2 tables and queues .*Clients1-A, …/,
    ],
    [
      'a table that the deployment would remove',
      { values: retain, before: { Data: table }, next: { Data: topic } },
      /^removed data: .*Users of Emissor-dev-Data/,
    ],
  ])('%s', async (_what, of, sentence) => {
    expect(await sentences(of)).toEqual([expect.stringMatching(sentence)]);
  });

  it.each<[string, Case]>([
    ['a first deployment that failed', { stacks: { Auth: { StackStatus: 'ROLLBACK_COMPLETE' } } }],
    ['a deployment that was taken back', { stacks: { Auth: { StackStatus: 'UPDATE_ROLLBACK_COMPLETE' } } }],
    ['reservations that leave 100', { next: { Auth: aFunction('Token', 200) }, answers: quotaOf(300) }],
    [
      'reservations that the stage already holds',
      {
        before: { Auth: aFunction('Token', 900) },
        next: { Auth: aFunction('Token', 900) },
        answers: quotaOf(1_000, 100),
      },
    ],
    ['a wildcard certificate', { values: ofDomain, answers: certificate({ DomainName: '*.acme.com' }) }],
    [
      'a domain that stays',
      {
        values: ofDomain,
        answers: certificate({}),
        stacks: withUrl('https://auth.acme.com', 'd-1.execute-api.sa-east-1.amazonaws.com'),
      },
    ],
    ['left-overs of a stage that is deployed', { values: retain, answers: leftOver }],
    ['left-overs of a stage that keeps no data', { stacks: none, answers: leftOver }],
    ['a table that stays', { values: retain, before: { Data: table }, next: { Data: table } }],
    ['a stage of the same owner', { values: { tags: { owner: 'payments' } }, stacks: owned }],
  ])('nothing of %s', async (_what, of) => {
    expect(await sentences(of)).toEqual([]);
  });
});
