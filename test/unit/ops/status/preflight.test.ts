import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StackStatus } from '@aws-sdk/client-cloudformation';
import { describe, expect, it } from 'vitest';
import type { StackName } from '../../../../ops/stage/stage-stacks.ts';
import { checks } from '../../../../ops/status/checks.ts';
import { findBeforeDeployment } from '../../../../ops/status/preflight.ts';
import type { Template } from '../../../../ops/status/synthesis.ts';
import { runOpsOn } from '../../../../tools/support/ops.ts';
import { aStage, connectTo, noStacks, type StackChanges } from '../a-stage.ts';

// `npm run preflight` reports problems that would make a deployment fail or lose data (contract, section 7).

type Templates = Partial<Record<StackName, Template>>;
type Respond = (input: Readonly<Record<string, string>>) => object;

/** A stage, and AWS's responses by command. By default, AWS's responses report no problem. */
interface Case {
  readonly stage?: 'dev' | 'prod';
  readonly values?: object;
  readonly stacks?: StackChanges;
  readonly next?: Templates;
  readonly before?: Templates;
  readonly responses?: Readonly<Record<string, Respond>>;
}

const fail = (name: string) => () => Promise.reject(Object.assign(new Error('refused'), { name }));
const quotaOf = (ConcurrentExecutions: number, UnreservedConcurrentExecutions = ConcurrentExecutions) => ({
  GetAccountSettingsCommand: () => ({ AccountLimit: { ConcurrentExecutions, UnreservedConcurrentExecutions } }),
});

const find = ({ stage = 'dev', values, stacks, next = {}, before = {}, responses = {} }: Case) => {
  const all: Record<string, Respond> = {
    ...quotaOf(1_000),
    GetTemplateCommand: ({ StackName = '' }) => ({
      TemplateBody: JSON.stringify(before[StackName.split('-').at(-1) as StackName] ?? {}),
    }),
    ListRolesCommand: () => ({ Roles: [{ Path: `/emissor/${stage}/sa-east-1/` }] }),
    ...responses,
  };
  const connect = connectTo<{ input: Record<string, string> }>(
    command => all[command.constructor.name]?.(command.input) ?? {},
  );
  const deployed = aStage(values, stacks, stage);
  const target = { deployed, outputs: {}, connect, unreachable: 'AWS did not respond.' } as never;
  const templates = { Data: {}, Auth: {}, Webhooks: {}, Delivery: {}, ...next };
  const synthesise = async () => ({ templates });
  return findBeforeDeployment(target, synthesise, () => {});
};

describe('the preflight', () => {
  it('finds no problems in a healthy stage, deployed or not', async () => {
    const [account, region] = ['111122223333', 'sa-east-1'];
    expect(await find({})).toEqual({ stage: 'dev', account, region, problems: [], unread: [] });
    expect(await find({ stacks: noStacks })).toMatchObject({ problems: [], unread: [] });
  });

  it('continues after a check that cannot run, and reports the missing permission', async () => {
    const { problems, unread } = await find({ responses: { ListRolesCommand: fail('AccessDenied') } });
    expect(problems).toEqual([]);
    expect(unread).toEqual([{ check: 'other Regions', sentence: expect.stringContaining('Access denied') }]);
  });

  it('runs the checks that the runbook lists', () => {
    const runbook = readFileSync(join(import.meta.dirname, '../../../../docs/runbook.md'), 'utf8');
    const section = runbook.split('## Before a deployment')[1]?.split('\n## ')[0] ?? '';
    const listed = [...section.matchAll(/^- \*\*(.+?):\*\* /gm)].map(([, name]) => name);
    const expected = checks.filter(({ when }) => when !== 'status').map(({ name }) => name);
    expect(listed.toSorted()).toEqual(expected.toSorted());
  });

  it('rejects a local run', async () => {
    expect(await runOpsOn({}, ['preflight'])).toMatchObject({ code: 1, stderr: expect.stringContaining('--stage') });
  });
});

const auth = (StackStatus: StackStatus, more = {}): Case => ({ stacks: { Auth: { StackStatus, ...more } } });
/** Returns templates of `Auth` and `Webhooks` with functions that reserve this concurrency. */
const reserving = (inAuth: number, inWebhooks = 0): Templates => {
  const template = (ReservedConcurrentExecutions: number): Template => ({
    Resources: { Function: { Type: 'AWS::Lambda::Function', Properties: { ReservedConcurrentExecutions } } },
  });
  return { Auth: template(inAuth), Webhooks: template(inWebhooks) };
};
const authDomain = { name: 'auth.acme.com', certificateArn: 'arn:aws:acm:sa-east-1:111122223333:certificate/1' };
/** Returns a stage with a domain and its certificate, with changes to the certificate. */
const withDomain = (changes: object = {}): Case => ({
  values: { authDomain },
  responses: {
    DescribeCertificateCommand: () => ({ Certificate: { Status: 'ISSUED', DomainName: authDomain.name, ...changes } }),
  },
});
/** Returns a stage that is deployed at a URL, with or without a custom domain. */
const at = (url: string, AuthDomainTarget?: string): Case => {
  const outputs = Object.entries({ AuthUrl: `https://${url}`, AuthDomainTarget });
  const Outputs = outputs.flatMap(([OutputKey, OutputValue]) => (OutputValue ? [{ OutputKey, OutputValue }] : []));
  return { stacks: { Data: { Outputs } } };
};
const retained = {
  ListTablesCommand: () => ({ TableNames: ['Emissor-dev-Data-Clients1-A', 'Emissor-dev-Data2-B'] }),
  ListQueuesCommand: ({ QueueNamePrefix = '' }) => ({
    QueueUrls: QueueNamePrefix.includes('Delivery') ? ['https://sqs/1/Emissor-dev-Delivery-Events1-B'] : [],
  }),
};
const table: Templates = { Data: { Resources: { Users: { Type: 'AWS::DynamoDB::Table' } } } };
const topic: Templates = { Data: { Resources: { Topic: { Type: 'AWS::SNS::Topic' } } } };
const prod = { demandsUrl: 'https://acme.com', docsUrl: 'https://acme.com/docs', alarmRecipients: ['ops@acme.com'] };
const retain = { removalPolicy: 'retain' };
const ownedBy = (owner: string): Case => ({
  values: { tags: { owner } },
  stacks: { Data: { Tags: [{ Key: 'owner', Value: 'payments' }] } },
});

describe('the preflight reports', () => {
  it.each<[string, Case, RegExp]>([
    ['a failed rollback', auth('UPDATE_ROLLBACK_FAILED'), /^stacks: .* npx cdk rollback Emissor-dev-Auth -c stage=dev/],
    ['an update in progress', auth('UPDATE_ROLLBACK_IN_PROGRESS'), /^stacks: .* Wait until it has ended/],
    [
      'a protected stack',
      auth('ROLLBACK_COMPLETE', { EnableTerminationProtection: true }),
      /^stacks: .*update-termination-protection/,
    ],
    [
      'a missing bootstrap stack',
      { responses: { GetParameterCommand: fail('ParameterNotFound') } },
      /^bootstrap: .*npx cdk bootstrap -c stage=dev/,
    ],
    [
      'a quota below the value in the file',
      { values: { accountConcurrency: 20 }, responses: quotaOf(10) },
      /^concurrency: .*accountConcurrency to 20.*L-B99A9384.*or set accountConcurrency to 10/,
    ],
    [
      'a reservation in a new account',
      { next: reserving(5), responses: quotaOf(10) },
      /^concurrency: .*5 would be left, but AWS requires 10 unreserved/,
    ],
    [
      'a reservation in addition to other reservations',
      { next: reserving(200), responses: quotaOf(1_000, 250) },
      /^concurrency: .*other functions reserve 750\. Only 50 would be left, but AWS requires 100/,
    ],
    [
      'reservations that exceed the quota during the deployment',
      { before: reserving(150, 50), next: reserving(100, 100), responses: quotaOf(300, 100) },
      /^concurrency: .* up to 250 of 300 .*\. Only 50 would be left.* deploy the lower value first/,
    ],
    [
      'lanes that leave too few executions',
      { values: { accountConcurrency: 1_000 }, responses: quotaOf(1_000, 91) },
      /^concurrency: the lanes may use 90 of the 91 /,
    ],
    [
      'a missing certificate',
      { ...withDomain(), responses: { DescribeCertificateCommand: fail('ResourceNotFoundException') } },
      /^certificates: there is no cert/,
    ],
    ['an unissued certificate', withDomain({ Status: 'PENDING_VALIDATION' }), /^certificates: .*Add the DNS records/],
    ['an expired certificate', withDomain({ Status: 'EXPIRED' }), /^certificates: .*is EXPIRED\. Request/],
    [
      'a certificate for other names',
      withDomain({ DomainName: '*.com', SubjectAlternativeNames: ['*.auth.acme.com'] }),
      /^certificates: .*is for \*\.com and \*\.auth\.acme\.com/,
    ],
    ['a stage for customers without domains', { stage: 'prod', values: prod }, /^domains: .*authDomain and baseDomain/],
    [
      'a new domain of a deployed stage',
      { ...withDomain(), ...at('x.example.com') },
      /^domains: .*the URL of authDomain\./,
    ],
    ['a removed domain', at('auth.acme.com', 'd-1.example.com'), /^domains: .*Restore authDomain/],
    [
      'a replaced domain',
      { ...withDomain(), ...at('login.acme.com', 'd-1.example.com') },
      /^domains: .*Restore authDomain/,
    ],
    [
      'protection before the first deployment',
      { values: { ...retain, protection: true }, stacks: noStacks },
      /^protection: .*Set protection: false/,
    ],
    ['a stage of another owner', ownedBy('ana'), /^owner: .*belongs to payments.*is ana\./],
    [
      'a stage in another Region',
      { responses: { ListRolesCommand: () => ({ Roles: [{ Path: '/emissor/dev/eu-west-1/' }] }) } },
      /^other Regions: .*in eu-west-1 of this account/,
    ],
    [
      'retained resources',
      { values: retain, stacks: noStacks, responses: retained },
      /^retained resources: 2 tables and queues .*Clients1-A, …/,
    ],
    [
      'a table that the deployment would remove',
      { values: retain, before: table, next: topic },
      /^removed data: .*Users of Emissor-dev-Data/,
    ],
  ])('%s', async (_case, of, sentence) => {
    const { problems } = await find(of);
    expect(problems.map(found => `${found.check}: ${found.sentence}`)).toEqual([expect.stringMatching(sentence)]);
  });

  it.each<[string, Case]>([
    ['a failed first deployment', auth('ROLLBACK_COMPLETE')],
    ['a rolled back deployment', auth('UPDATE_ROLLBACK_COMPLETE')],
    ['reservations that leave 100 executions', { next: reserving(200), responses: quotaOf(300) }],
    ['unchanged reservations', { before: reserving(900), next: reserving(900), responses: quotaOf(1_000, 100) }],
    ['a wildcard certificate', withDomain({ DomainName: '*.acme.com' })],
    ['a stage without a domain', at('x.example.com')],
    ['an unchanged domain', { ...withDomain(), ...at('auth.acme.com', 'd-1.example.com') }],
    ['retained resources of a deployed stage', { values: retain, responses: retained }],
    ['retained resources of a stage that does not retain data', { stacks: noStacks, responses: retained }],
    ['an unchanged table', { values: retain, before: table, next: table }],
    ['a stage of the same owner', ownedBy('payments')],
  ])('no problem for %s', async (_case, of) => {
    expect(await find(of)).toMatchObject({ problems: [] });
  });
});
