import { describe, expect, it } from 'vitest';
import { stageConfiguration } from '../../lib/config.ts';
import { ConfigurationError } from '../../lib/stage-files.ts';
import { required, resourcesOf, stacksOf, stageTemplates } from './templates.ts';

const roles = ['arn:aws:iam::444455556666:role/checkout', 'arn:aws:iam::444455556666:user/legacy/crm'];
const topics = ['arn:aws:sns:sa-east-1:444455556666:demands'];
const rules = ['arn:aws:events:sa-east-1:111122223333:rule/bus/demands'];
const named = { publishers: [...rules, ...roles, ...topics] };
const noticeAccounts = ['444455556666', '777788889999'];

const plain = stageTemplates('prod');
const open = stageTemplates('prod', { ...named, noticeAccounts });
const queueArn = { 'Fn::GetAtt': ['EventsQueueB96EB0D2', 'Arn'] };
const topicArn = { Ref: 'RefusedEventsDDB23362' };
const subscription = {
  Effect: 'Allow',
  Action: 'sns:Subscribe',
  Resource: topicArn,
  Condition: { StringEquals: { 'sns:Protocol': ['sqs', 'lambda'] } },
};

type Templates = typeof plain;
const managedPolicy = (id: string) => {
  const found = resourcesOf(plain.Delivery, 'AWS::IAM::ManagedPolicy').find(
    ([name]) => name.replace(/\w{8}$/, '') === id,
  );
  return found?.[1].Properties.PolicyDocument.Statement;
};
/** Returns the statements of the queue's own policy beside its refusal of plain HTTP. */
const queuePolicy = ({ Delivery }: Templates) =>
  resourcesOf(Delivery, 'AWS::SQS::QueuePolicy')
    .filter(([, { Properties }]) => JSON.stringify(Properties.Queues).includes('EventsQueue'))
    .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement)
    .filter(({ Effect }) => Effect === 'Allow');
const topicPolicy = ({ Delivery }: Templates) =>
  resourcesOf(Delivery, 'AWS::SNS::TopicPolicy').flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement);
const bySource = (source: readonly string[]) => ({ ArnEquals: { 'aws:SourceArn': source } });

// Bug: a changed description would have replaced a policy that roles of others have.
it('the policies of publishers and subscribers keep their descriptions', () => {
  const policies = resourcesOf(plain.Delivery, 'AWS::IAM::ManagedPolicy');
  expect(
    policies.map(([, { Properties }]) => Properties.Description).filter(text => text.includes('internal')),
  ).toEqual([
    'Allows an internal service to subscribe to the events that Emissor refused, and nothing else',
    'Allows an internal service to publish events to Emissor, and nothing else',
  ]);
});

describe('a publisher', () => {
  it('of the same account may send to the events queue by a policy, and do nothing else', () => {
    expect(managedPolicy('Publisher')).toEqual([{ Effect: 'Allow', Action: 'sqs:SendMessage', Resource: queueArn }]);
    for (const output of ['PublisherPolicyArn', 'EventsQueueUrl', 'EventsQueueArn'])
      plain.Delivery.hasOutput(output, {});
  });

  it('of no other kind may send to it unless the stage names it', () => {
    expect(queuePolicy(plain)).toEqual([]);
  });

  it('that the stage names may send: roles, a service for a topic, a service for a rule', () => {
    const allowed = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: queueArn };
    expect(queuePolicy(open)).toEqual([
      { ...allowed, Principal: { AWS: roles } },
      { ...allowed, Principal: { Service: 'sns.amazonaws.com' }, Condition: bySource(topics) },
      { ...allowed, Principal: { Service: 'events.amazonaws.com' }, Condition: bySource(rules) },
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
  ])('is named exactly: %s takes no %s', (key, value) => {
    const attempt = () => stageConfiguration('prod', { ...required.prod, [key]: [value] });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(new RegExp(`${key} must be `));
  });
});

// Refused, it would be told of in a further notice, and so on.
it('brings no notice of a refused event: the topic of those is no publisher', () => {
  const named = (name: string) => () =>
    stacksOf('prod', { publishers: [...topics, `arn:aws:sns:sa-east-1:111122223333:${name}`] });
  expect(named(`Emissor-prod-Delivery-${topicArn.Ref}-x1yz2ABCdef3`)).toThrow(
    'Stage prod: publishers must not name the topic of refused events: each notice would be refused and cause another one.',
  );
  expect(named('Emissor-prod-Deliveries')).not.toThrow();
});

describe('the policy of the events queue', () => {
  const account = '444455556666';
  const many = (count: number, make: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => make(index));
  const role = (index: number) => `arn:aws:iam::${account}:role/publisher-${index}`;
  const topic = (index: number) => `arn:aws:sns:sa-east-1:${account}:${'t'.repeat(120)}-${index}`;

  it('names 50 principals at most, that of every queue and the services among them', () => {
    expect(() => stacksOf('prod', { publishers: [...topics, ...many(48, role)] })).not.toThrow();
    expect(() => stacksOf('prod', { publishers: [...topics, ...many(49, role)] })).toThrow(
      'Stage prod: the policy of the events queue has 51 principals, and AWS takes 50 at most: shorten publishers (50).',
    );
  });

  it('has 8,192 bytes at most, also where the queue has the longest name', () => {
    expect(() => stacksOf('prod', { publishers: many(40, topic) })).not.toThrow();
    expect(() => stacksOf('prod', { publishers: [role(1), ...many(60, topic)] })).toThrow(
      /has \d{4,5} bytes, and AWS takes 8192 at most: shorten publishers \(61\)\./,
    );
  });
});

describe('the topic of refused events', () => {
  it('refuses plain HTTP, and lets nobody of another account subscribe', () => {
    expect(
      topicPolicy(plain)
        .filter(({ Effect }) => Effect === 'Allow')
        .map(({ Principal }) => Principal),
    ).not.toContainEqual(expect.objectContaining({ AWS: expect.anything() }));
    expect(topicPolicy(plain)).toContainEqual(
      expect.objectContaining({
        Effect: 'Deny',
        Principal: '*',
        Resource: topicArn,
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    );
  });

  it('lets the accounts subscribe that the stage names: queues and functions, and nothing else', () => {
    const principals = noticeAccounts.map(account => `arn:aws:iam::${account}:root`);
    expect(topicPolicy(open).filter(({ Effect }) => Effect === 'Allow')).toEqual([
      { ...subscription, Sid: expect.any(String), Principal: { AWS: principals } },
    ]);
  });

  it('has a policy by which a service of the same account may subscribe, and do nothing else', () => {
    expect(managedPolicy('RefusedEventsSubscriber')).toEqual([subscription]);
    for (const output of ['RefusedEventsTopicArn', 'RefusedEventsSubscriberPolicyArn'])
      plain.Delivery.hasOutput(output, {});
  });
});
