import { describe, expect, it } from 'vitest';
import { stageConfiguration } from '../../lib/config.ts';
import { ConfigurationError } from '../../lib/stage-files.ts';
import { propertiesOf, requiredValues, stacksOf, stageTemplates } from './templates.ts';

// docs/publishing.md describes which roles and services may publish events, and which accounts may subscribe to rejected events.

const roles = ['arn:aws:iam::444455556666:role/checkout', 'arn:aws:iam::444455556666:user/legacy/crm'];
const topics = ['arn:aws:sns:sa-east-1:444455556666:demands'];
const rules = ['arn:aws:events:sa-east-1:111122223333:rule/bus/demands'];
const noticeAccounts = ['444455556666', '777788889999'];

const withoutPublishers = stageTemplates('prod');
const withPublishers = stageTemplates('prod', { publishers: [...rules, ...roles, ...topics], noticeAccounts });
const plainHttp = { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } };
const send = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: 'EventsQueue.Arn' };
const subscribe = {
  Effect: 'Allow',
  Action: 'sns:Subscribe',
  Resource: 'RejectedEvents',
  Condition: { StringEquals: { 'sns:Protocol': ['sqs', 'lambda'] } },
};
const statementsOf = ({ Delivery }: typeof withPublishers, type: 'SQS::QueuePolicy' | 'SNS::TopicPolicy', of: string) =>
  Object.values(propertiesOf(Delivery, `AWS::${type}`)).find(({ Queues, Topics }) => (Queues ?? Topics).includes(of))
    .PolicyDocument.Statement;

// Bug: a changed description would have replaced a policy that is attached to roles of other services.
it('the policies for roles in the same account allow one action each and keep their descriptions', () => {
  const policies = Object.entries(propertiesOf(withoutPublishers.Delivery, 'AWS::IAM::ManagedPolicy'));
  expect(policies.map(([id, { Description, PolicyDocument }]) => [id, Description, PolicyDocument.Statement])).toEqual([
    [
      'RejectedEventsSubscriber',
      'Allows an internal service to subscribe to the events that Emissor refused, and nothing else',
      [subscribe],
    ],
    ['Publisher', 'Allows an internal service to publish events to Emissor, and nothing else', [send]],
  ]);
  expect(Object.keys(withoutPublishers.Delivery.toJSON().Outputs)).toEqual(
    expect.arrayContaining([
      ...['PublisherPolicyArn', 'EventsQueueUrl', 'EventsQueueArn'],
      ...['RejectedEventsTopicArn', 'RejectedEventsSubscriberPolicyArn'],
    ]),
  );
});

describe('the policy of the events queue', () => {
  it('allows only the roles, SNS topics and EventBridge rules in the stage file', () => {
    const bySource = (source: readonly string[]) => ({ ArnEquals: { 'aws:SourceArn': source } });
    expect(statementsOf(withoutPublishers, 'SQS::QueuePolicy', 'EventsQueue')).toMatchObject([plainHttp]);
    expect(statementsOf(withPublishers, 'SQS::QueuePolicy', 'EventsQueue')).toEqual([
      expect.objectContaining(plainHttp),
      { ...send, Principal: { AWS: roles } },
      { ...send, Principal: { Service: 'sns.amazonaws.com' }, Condition: bySource(topics) },
      { ...send, Principal: { Service: 'events.amazonaws.com' }, Condition: bySource(rules) },
    ]);
  });

  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html
  const many = (count: number, make: (index: number) => string) => Array.from({ length: count }, (_, at) => make(at));
  const role = (index: number) => `arn:aws:iam::444455556666:role/publisher-${index}`;
  const topic = (index: number) => `arn:aws:sns:sa-east-1:444455556666:${'t'.repeat(120)}-${index}`;
  it.each([
    ['50 principals', [...topics, ...many(48, role)], undefined],
    [
      '51 principals',
      [...topics, ...many(49, role)],
      'Stage prod: the policy of the events queue has 51 principals (AWS allows at most 50). Remove some of the 50 publishers.',
    ],
    ['fewer than 8,192 bytes', many(40, topic), undefined],
    [
      'more than 8,192 bytes, with the longest possible queue name',
      [role(1), ...many(60, topic)],
      /has \d{4,5} bytes \(AWS allows at most 8192\)\. Remove some of the 61 publishers\./,
    ],
    // Otherwise, Emissor would reject the notice of a rejected event and send another notice, endlessly.
    [
      'the topic of rejected events',
      [...topics, 'arn:aws:sns:sa-east-1:111122223333:Emissor-prod-Delivery-RejectedEvents31E772ED-x1yz2ABCdef3'],
      'Stage prod: publishers must not include the topic of rejected events. Emissor would reject each notice and send another one.',
    ],
    ['a topic with a similar name', ['arn:aws:sns:sa-east-1:111122223333:Emissor-prod-Deliveries'], undefined],
  ])('with %s is checked before the deployment', (_case, publishers, error) => {
    const attempt = () => stacksOf('prod', { publishers });
    if (error) expect(attempt).toThrow(error);
    else expect(attempt).not.toThrow();
  });
});

it('the topic of rejected events denies plain HTTP, and allows queues and functions of the listed accounts to subscribe', () => {
  const statements = statementsOf(withoutPublishers, 'SNS::TopicPolicy', 'RejectedEvents');
  expect(statements.filter(({ Effect }: { Effect: string }) => Effect === 'Allow')).toEqual([]);
  expect(statements).toContainEqual(
    expect.objectContaining({ ...plainHttp, Principal: '*', Resource: 'RejectedEvents' }),
  );
  const AWS = noticeAccounts.map(account => `arn:aws:iam::${account}:root`);
  expect(statementsOf(withPublishers, 'SNS::TopicPolicy', 'RejectedEvents')).toEqual([
    ...statements,
    { ...subscribe, Sid: expect.any(String), Principal: { AWS } },
  ]);
});

it.each([
  ['publishers', 'arn:aws:iam::444455556666:root'],
  ['publishers', 'arn:aws:iam::444455556666:role/*'],
  ['publishers', '*'],
  ['publishers', 'arn:aws:sns:sa-east-1:444455556666:*'],
  ['publishers', 'arn:aws:sqs:sa-east-1:444455556666:demands'],
  ['publishers', 'arn:aws:events:sa-east-1:444455556666:event-bus/default'],
  ['publishers', 'arn:aws:events:sa-east-1:*:rule/demands'],
  ['noticeAccounts', '44445555666'],
  ['noticeAccounts', '*'],
])('the stage value %s rejects %s', (key, value) => {
  const attempt = () => stageConfiguration('prod', { ...requiredValues.prod, [key]: [value] });
  expect(attempt).toThrow(ConfigurationError);
  expect(attempt).toThrow(new RegExp(`${key} must be `));
});
