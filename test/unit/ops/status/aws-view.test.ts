import { DescribeCertificateCommand } from '@aws-sdk/client-acm';
import type { GetMetricDataCommand, MetricDataResult } from '@aws-sdk/client-cloudwatch';
import { DescribeKeyCommand } from '@aws-sdk/client-kms';
import type { ListSubscriptionsByTopicCommand } from '@aws-sdk/client-sns';
import { describe, expect, it } from 'vitest';
import type { Target } from '../../../../ops/stage/target.ts';
import { awsProblems, readCertificates, readKmsKey, readThrottles } from '../../../../ops/status/aws-view.ts';
import { readRecipients } from '../../../../ops/status/recipients.ts';
import { readFacts } from '../../../../ops/status/status-facts.ts';
import { aStage, connectTo } from '../a-stage.ts';

// `ops status` reads throttles, KMS keys, certificates and alarm recipients from AWS (contract, section 7).

const now = Date.parse('2026-11-22T12:00:00Z');
const certificateArn = 'arn:aws:acm:sa-east-1:111122223333:certificate/a';
const keyArn = 'arn:aws:kms:sa-east-1:111122223333:key/1';

/** Returns a deployed stage. `send` returns AWS's response to each command. */
const stageWith = (send: (command: object) => object, outputs: object = { KeyArn: keyArn }): Target => {
  const deployed = aStage({
    alarmRecipients: ['ana@acme.com'],
    authDomain: { name: 'auth.emissor.com.br', certificateArn },
    baseDomain: { name: 'api.emissor.com.br', certificateArn },
  });
  return { deployed, outputs, connect: connectTo(send), clock: { now: () => now } } as never;
};
const none = { throttles: [], kmsKey: null, certificates: [], region: 'sa-east-1' };

it.each<[Record<string, readonly number[]>, string[]]>([
  [{}, []],
  [{ 'WriteThrottleEvents Users': [0, 0] }, []],
  [
    { 'WriteKeyRangeThroughputThrottleEvents Deliveries due': [40, 2], 'WriteThrottleEvents Deliveries due': [40, 2] },
    ['42 writes to Deliveries/index/due in the last 15 minutes, because of a hot key'],
  ],
  [
    { 'ReadAccountLimitThrottleEvents Users': [7], 'ReadThrottleEvents Users': [7] },
    ['7 reads from Users in the last 15 minutes, because of a quota'],
  ],
  [
    { 'ReadThrottleEvents Users': [1], 'WriteThrottleEvents Deliveries': [5] },
    ['5 writes to Deliveries in the last 15 minutes', '1 read from Users in the last 15 minutes'],
  ],
])('throttling is reported once by table, index, kind of call and cause: %j', async (counted, expected) => {
  const target = stageWith(command => {
    const { MetricDataQueries = [] } = (command as GetMetricDataCommand).input;
    const results = MetricDataQueries.map(({ Id, MetricStat }): MetricDataResult => {
      const { MetricName = '', Dimensions = [] } = MetricStat?.Metric ?? {};
      const name = [MetricName, ...Dimensions.map(({ Value }) => Value)].join(' ');
      return { Id, Values: [...(counted[name] ?? [])] };
    });
    return { MetricDataResults: results };
  });
  const tables = [
    { name: 'Deliveries', indexes: ['due', 'byWebhook'] },
    { name: 'Users', indexes: [] },
  ];
  expect(awsProblems({ ...none, throttles: await readThrottles(target, tables) })).toEqual(
    expected.map(text => `DynamoDB throttled ${text}. See docs/runbook.md, "StoreThrottled".`),
  );
});

const on = `--region sa-east-1 --key-id ${keyArn}`;
it.each([
  [{ KeyState: 'Enabled' }, undefined, ''],
  [
    { KeyState: 'PendingDeletion', DeletionDate: new Date('2026-12-20T08:00:00Z') },
    'PendingDeletion, to be deleted on 2026-12-20',
    ` Run "aws kms cancel-key-deletion ${on}", then "aws kms enable-key ${on}".`,
  ],
  [{ KeyState: 'Disabled' }, 'Disabled', ` Run "aws kms enable-key ${on}".`],
  [{ KeyState: 'Unavailable' }, 'Unavailable', ''],
])('a KMS key that is not enabled is reported with commands: %j', async (KeyMetadata, state, next) => {
  const target = stageWith(command => {
    expect(command).toBeInstanceOf(DescribeKeyCommand);
    return { KeyMetadata };
  });
  const effect = 'Without it, Emissor cannot issue tokens or read secrets.';
  const problem = `the KMS key is ${state}. ${effect}${next} See docs/runbook.md, "KeysNotRotated".`;
  expect(awsProblems({ ...none, kmsKey: await readKmsKey(target) })).toEqual(state ? [problem] : []);
});

it.each([
  ['ISSUED', 31, undefined],
  ['ISSUED', 30, 'is ISSUED, and expires on 2026-12-22, in 30 days'], // ACM renews its certificates earlier
  ['ISSUED', 1, 'is ISSUED, and expires on 2026-11-23, in 1 day'],
  ['EXPIRED', -3, 'is EXPIRED, and expired on 2026-11-19'],
  ['PENDING_VALIDATION', undefined, 'is PENDING_VALIDATION'],
])('a certificate is reported up to 30 days before it expires: %s, %s days', async (Status, days, problem) => {
  const NotAfter = days === undefined ? undefined : new Date(now + days * 86_400_000);
  const target = stageWith(command => {
    expect(command).toBeInstanceOf(DescribeCertificateCommand);
    return { Certificate: { Status, NotAfter } };
  });
  const certificates = await readCertificates(target);
  expect(certificates.map(({ daysLeft }) => daysLeft)).toEqual([days ?? null, days ?? null]);
  const hosts = problem ? ['auth.emissor.com.br', 'api.emissor.com.br'] : [];
  expect(awsProblems({ ...none, certificates })).toEqual(
    hosts.map(host => `the certificate of ${host} ${problem}. See docs/runbook.md, "CertificateExpires".`),
  );
});

describe('the recipients of alarms', () => {
  const arn = 'arn:aws:sns:sa-east-1:111122223333:pages';
  const topics = { PagesTopicArn: arn, TicketsTopicArn: `${arn}-not` };
  const address = 'ana@acme.com';
  const mailbox = (SubscriptionArn: string, Endpoint = address, Protocol = 'email') => ({
    ...{ SubscriptionArn, Endpoint, Protocol },
  });
  it.each([
    ['confirmed', [mailbox('Deleted'), mailbox(arn), mailbox('PendingConfirmation', address, 'https')]],
    ['not confirmed', [mailbox('PendingConfirmation')]],
    ['not subscribed', [mailbox('Deleted')]],
    ['not subscribed', [mailbox(arn, 'bia@acme.com')]],
  ])('are %s according to all pages of the SNS subscriptions: %j', async (state, Subscriptions) => {
    const target = stageWith(command => {
      const { TopicArn, NextToken } = (command as ListSubscriptionsByTopicCommand).input;
      if (TopicArn !== arn) return { Subscriptions: [mailbox(arn)] };
      return NextToken ? { Subscriptions } : { Subscriptions: [], NextToken: 'more' };
    }, topics);
    const ticket = { mail: 'ticket', address, state: 'confirmed' };
    expect(await readRecipients(target)).toEqual([{ mail: 'page', address, state }, ticket]);
  });
  it('are reported as unread if SNS denies the call or the stage has no topic', async () => {
    const deny = () => {
      throw Object.assign(new Error('denied'), { name: 'AuthorizationErrorException' });
    };
    const read = async (outputs: object) => (await readFacts(stageWith(deny, outputs), () => {})).recipients;
    expect(await read(topics)).toEqual({ unread: 'Access denied for these AWS credentials: denied' });
    expect(await read({})).toEqual({ unread: expect.stringContaining('no output "PagesTopicArn"') });
  });
});
