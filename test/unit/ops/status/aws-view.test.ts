import { DescribeCertificateCommand } from '@aws-sdk/client-acm';
import type { GetMetricDataCommand, MetricDataResult } from '@aws-sdk/client-cloudwatch';
import { DescribeKeyCommand } from '@aws-sdk/client-kms';
import type { ListSubscriptionsByTopicCommand } from '@aws-sdk/client-sns';
import { describe, expect, it } from 'vitest';
import { stageConfiguration } from '../../../../lib/config.ts';
import type { AwsClient } from '../../../../ops/stage/aws-clock.ts';
import type { Target } from '../../../../ops/stage/target.ts';
import { awsProblems, readCertificates, readKmsKey, readThrottles } from '../../../../ops/status/aws-view.ts';
import { readRecipients } from '../../../../ops/status/recipients.ts';
import { readFacts } from '../../../../ops/status/status-facts.ts';

const now = Date.parse('2026-11-22T12:00:00Z');
const certificateArn = 'arn:aws:acm:sa-east-1:111122223333:certificate/a';
const keyArn = 'arn:aws:kms:sa-east-1:111122223333:key/1';

/** A deployed stage of which AWS answers each command so. */
const stageWith = (send: (command: object) => object, outputs: object = { KeyArn: keyArn }): Target => {
  const configuration = stageConfiguration('dev', {
    account: '111122223333',
    region: 'sa-east-1',
    alarmRecipients: ['ana@acme.com'],
    authDomain: { name: 'auth.emissor.com.br', certificateArn },
    baseDomain: { name: 'api.emissor.com.br', certificateArn },
  });
  return {
    deployed: { configuration, region: 'sa-east-1', stacks: [] },
    outputs,
    connect: (Service: new (settings: object) => AwsClient) =>
      Object.assign(new Service({ region: 'sa-east-1' }), { send: async (command: object) => send(command) }),
    clock: { now: () => now },
  } as never;
};
const none = { throttles: [], kmsKey: null, certificates: [], region: 'sa-east-1' };

describe('what DynamoDB throttled', () => {
  type Dimension = { readonly Name?: string | undefined; readonly Value?: string | undefined };
  const nameOf = (name = '', dimensions: readonly Dimension[] = []) =>
    [name, ...dimensions.map(({ Value }) => Value)].join(' ');
  const read = (counted: Record<string, readonly number[]>) =>
    readThrottles(
      stageWith(command => {
        const { MetricDataQueries = [] } = (command as GetMetricDataCommand).input;
        return {
          MetricDataResults: MetricDataQueries.map(({ Id, MetricStat }): MetricDataResult => {
            const { MetricName, Dimensions } = MetricStat?.Metric ?? {};
            return { Id, Values: [...(counted[nameOf(MetricName, Dimensions)] ?? [])] };
          }),
        };
      }),
      [
        { name: 'Emissor-Deliveries', indexes: ['due', 'byWebhook'] },
        { name: 'Emissor-Users', indexes: [] },
      ],
    );

  it.each([
    [{}, []],
    [{ 'WriteThrottleEvents Emissor-Users': [0, 0] }, []],
    [
      {
        'WriteKeyRangeThroughputThrottleEvents Emissor-Deliveries due': [40, 2],
        'WriteThrottleEvents Emissor-Deliveries due': [40, 2],
      },
      [
        'DynamoDB throttled 42 writes of Emissor-Deliveries/index/due in the last 15 minutes, for a hot key: docs/runbook.md, "StoreThrottled".',
      ],
    ],
    [
      { 'ReadAccountLimitThrottleEvents Emissor-Users': [7], 'ReadThrottleEvents Emissor-Users': [7] },
      [
        'DynamoDB throttled 7 reads of Emissor-Users in the last 15 minutes, for a quota: docs/runbook.md, "StoreThrottled".',
      ],
    ],
    [
      { 'ReadThrottleEvents Emissor-Users': [1], 'WriteThrottleEvents Emissor-Deliveries': [5] },
      [
        'DynamoDB throttled 5 writes of Emissor-Deliveries in the last 15 minutes: docs/runbook.md, "StoreThrottled".',
        'DynamoDB throttled 1 read of Emissor-Users in the last 15 minutes: docs/runbook.md, "StoreThrottled".',
      ],
    ],
  ])('is told by table, index, calls and cause, once: %j', async (counted, expected) => {
    expect(awsProblems({ ...none, throttles: await read(counted) })).toEqual(expected);
  });
});

describe('the KMS key', () => {
  const on = `--region sa-east-1 --key-id ${keyArn}`;
  const lost = 'without it no token can be issued and no secret can be read.';
  it.each([
    [{ KeyState: 'Enabled' }, []],
    [
      { KeyState: 'PendingDeletion', DeletionDate: new Date('2026-12-20T08:00:00Z') },
      [
        `the KMS key is PendingDeletion, to be deleted on 2026-12-20: ${lost} aws kms cancel-key-deletion ${on}, then: aws kms enable-key ${on}. docs/runbook.md, "KeysNotRotated".`,
      ],
    ],
    [
      { KeyState: 'Disabled' },
      [`the KMS key is Disabled: ${lost} aws kms enable-key ${on}. docs/runbook.md, "KeysNotRotated".`],
    ],
    [{ KeyState: 'Unavailable' }, [`the KMS key is Unavailable: ${lost} docs/runbook.md, "KeysNotRotated".`]],
  ])('is told with the day and the commands, where it is not enabled: %j', async (KeyMetadata, expected) => {
    const target = stageWith(command => {
      expect(command).toBeInstanceOf(DescribeKeyCommand);
      return { KeyMetadata };
    });
    expect(awsProblems({ ...none, kmsKey: await readKmsKey(target) })).toEqual(expected);
  });
});

describe('the certificates', () => {
  it.each([
    ['ISSUED', 40, []], // ACM is about to renew it
    ['ISSUED', 31, []],
    ['ISSUED', 30, ['is ISSUED, and ends on 2026-12-22, in 30 days']],
    ['ISSUED', 1, ['is ISSUED, and ends on 2026-11-23, in 1 day']],
    ['EXPIRED', -3, ['is EXPIRED, and ended on 2026-11-19']],
    ['PENDING_VALIDATION', undefined, ['is PENDING_VALIDATION']],
  ])('are told with the days that are left: %s, %s days', async (Status, days, expected) => {
    const NotAfter = days === undefined ? undefined : new Date(now + days * 86_400_000);
    const certificates = await readCertificates(
      stageWith(command => {
        expect(command).toBeInstanceOf(DescribeCertificateCommand);
        return { Certificate: { Status, NotAfter } };
      }),
    );
    expect(certificates.map(({ daysLeft }) => daysLeft)).toEqual([days ?? null, days ?? null]);
    expect(awsProblems({ ...none, certificates })).toEqual(
      ['auth.emissor.com.br', 'api.emissor.com.br'].flatMap(host =>
        expected.map(text => `the certificate of ${host} ${text}: docs/runbook.md, "CertificateExpires".`),
      ),
    );
  });
});

describe('the recipients of alarms', () => {
  const arn = 'arn:aws:sns:sa-east-1:111122223333:pages';
  const topics = { PagesTopicArn: arn, TicketsTopicArn: `${arn}-not` };
  const address = 'ana@acme.com';
  const mailbox = (SubscriptionArn: string, Endpoint = address, Protocol = 'email') => ({
    ...{ SubscriptionArn, Endpoint, Protocol },
  });
  // Bug: between deployments nobody asked SNS, and status said that nothing needs anybody.
  it.each([
    ['confirmed', [mailbox('Deleted'), mailbox(arn), mailbox('PendingConfirmation', address, 'https')]],
    ['not confirmed', [mailbox('PendingConfirmation')]],
    ['not subscribed', [mailbox('Deleted')]],
    ['not subscribed', [mailbox(arn, 'bia@acme.com')]],
  ])('are %s by what SNS lists of a topic, on whatever page: %j', async (state, Subscriptions) => {
    const target = stageWith(command => {
      const { TopicArn, NextToken } = (command as ListSubscriptionsByTopicCommand).input;
      if (TopicArn !== arn) return { Subscriptions: [mailbox(arn)] };
      return NextToken ? { Subscriptions } : { Subscriptions: [], NextToken: 'more' };
    }, topics);
    const ticket = { mail: 'ticket', address, state: 'confirmed' };
    expect(await readRecipients(target)).toEqual([{ mail: 'page', address, state }, ticket]);
  });
  it('are unread where SNS refuses, and where the stage has no such topic', async () => {
    const refused = () => {
      throw Object.assign(new Error('denied'), { name: 'AuthorizationErrorException' });
    };
    const read = async (outputs: object) => (await readFacts(stageWith(refused, outputs), () => {})).recipients;
    expect(await read(topics)).toEqual({ unread: 'Access denied for these AWS credentials: denied' });
    expect(await read({})).toEqual({ unread: expect.stringContaining('no output "PagesTopicArn"') });
  });
});
