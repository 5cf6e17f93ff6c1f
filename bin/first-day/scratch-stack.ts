// The template is written by hand, and the function's source is inline. These resources are no part of a stage: one run makes and
// deletes them, without a synthesis of the CDK and without a bundle. The whole folder goes once the checks have passed on AWS.

import {
  CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import { outputsOfStacks } from '../actions/target.ts';

/** A stack of resources that the checks work with, beside the stage's own. */
export interface Scratch {
  readonly outputs: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

/**
 * Makes the stack, and deletes one that an earlier run left first.
 *
 * @param target - the stage's outputs: its topics send to the scratch queue, and the scratch topics to its events queue.
 */
export async function makeScratch(
  stage: string,
  target: Readonly<Record<string, string>>,
  settings: { readonly region: string; readonly maxAttempts: number },
): Promise<Scratch> {
  const client = new CloudFormationClient(settings);
  const StackName = `Emissor-${stage}-FirstDay`;
  const waiting = { client, maxWaitTime: 600, minDelay: 1, maxDelay: 5 };

  async function remove(): Promise<void> {
    await client.send(new DeleteStackCommand({ StackName }));
    await waitUntilStackDeleteComplete(waiting, { StackName });
  }

  await remove(); // of a stack that is not there, too
  await client.send(
    new CreateStackCommand({
      StackName,
      TemplateBody: JSON.stringify(template(target)),
      Capabilities: ['CAPABILITY_IAM'],
      OnFailure: 'DELETE',
    }),
  );
  await waitUntilStackCreateComplete(waiting, { StackName });
  const { Stacks: [found] = [] } = await client.send(new DescribeStacksCommand({ StackName }));
  return { outputs: outputsOfStacks([{ name: 'Data', stackName: StackName, found }]), remove };
}

function template(target: Readonly<Record<string, string>>) {
  const subscription = (TopicArn: unknown, Endpoint: unknown) => ({
    Type: 'AWS::SNS::Subscription',
    Properties: { TopicArn, Protocol: 'sqs', Endpoint, RawMessageDelivery: true },
  });
  const mailbox = { 'Fn::GetAtt': ['Mailbox', 'Arn'] };
  return {
    Description: 'Scratch resources of "npm run first-day": it deletes them itself',
    Resources: {
      ProbeRole: {
        Type: 'AWS::IAM::Role',
        Properties: {
          AssumeRolePolicyDocument: statement({
            Principal: { Service: 'lambda.amazonaws.com' },
            Action: 'sts:AssumeRole',
          }),
        },
      },
      ProbeLogs: { Type: 'AWS::Logs::LogGroup', Properties: { RetentionInDays: 1 } },
      Probe: {
        Type: 'AWS::Lambda::Function',
        Properties: {
          Runtime: 'nodejs24.x',
          Architectures: ['arm64'],
          Handler: 'index.handler',
          MemorySize: 1769,
          Timeout: 15,
          Role: { 'Fn::GetAtt': ['ProbeRole', 'Arn'] },
          LoggingConfig: { LogGroup: { Ref: 'ProbeLogs' } },
          Code: { ZipFile: probe },
        },
      },
      Table: {
        Type: 'AWS::DynamoDB::Table',
        Properties: {
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
          KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        },
      },
      Mailbox: { Type: 'AWS::SQS::Queue' },
      MailboxPolicy: {
        Type: 'AWS::SQS::QueuePolicy',
        Properties: {
          Queues: [{ Ref: 'Mailbox' }],
          PolicyDocument: statement({
            Principal: { Service: 'sns.amazonaws.com' },
            Action: 'sqs:SendMessage',
            Resource: mailbox,
            Condition: { ArnEquals: { 'aws:SourceArn': [target.PagesTopicArn, target.OperationsTopicArn] } },
          }),
        },
      },
      Pages: subscription(target.PagesTopicArn, mailbox),
      Tickets: subscription(target.OperationsTopicArn, mailbox),
      Topic: { Type: 'AWS::SNS::Topic' },
      FifoTopic: { Type: 'AWS::SNS::Topic', Properties: { FifoTopic: true, ContentBasedDeduplication: true } },
      TopicEvents: subscription({ Ref: 'Topic' }, target.EventsQueueArn),
      FifoTopicEvents: subscription({ Ref: 'FifoTopic' }, target.EventsQueueArn),
      Alarm: {
        Type: 'AWS::CloudWatch::Alarm',
        Properties: {
          Namespace: 'Emissor/FirstDay',
          MetricName: 'Nothing',
          Statistic: 'Sum',
          Period: 60,
          EvaluationPeriods: 1,
          Threshold: 1,
          ComparisonOperator: 'GreaterThanThreshold',
          TreatMissingData: 'ignore',
        },
      },
      Rule: {
        Type: 'AWS::Events::Rule',
        Properties: {
          // An event that a check brings about: it sets the state of the alarm.
          EventPattern: { source: ['aws.cloudwatch'], resources: [{ 'Fn::GetAtt': ['Alarm', 'Arn'] }] },
          Targets: [{ Id: 'events', Arn: target.EventsQueueArn, Input: '{"first_day":"rule"}' }],
        },
      },
    },
    Outputs: Object.fromEntries(
      Object.entries({
        ProbeName: { Ref: 'Probe' },
        TableName: { Ref: 'Table' },
        MailboxUrl: { Ref: 'Mailbox' },
        TopicArn: { Ref: 'Topic' },
        FifoTopicArn: { Ref: 'FifoTopic' },
        AlarmName: { Ref: 'Alarm' },
        RuleArn: { 'Fn::GetAtt': ['Rule', 'Arn'] },
      }).map(([name, Value]) => [name, { Value }]),
    ),
  };
}

function statement(one: object) {
  return { Version: '2012-10-17', Statement: [{ Effect: 'Allow', ...one }] };
}

/** Says what a function finds in Lambda's image and process. */
const probe = `
const { argon2Sync } = require('node:crypto');
const { readFileSync } = require('node:fs');
const started = Date.now();
let first;
exports.handler = async () => {
  const ahead = first === undefined ? Date.now() - started : null;
  first = first || Date.now();
  const hashed = argon2Sync && argon2Sync('argon2id', {
    message: 'password', nonce: 'somesalt', parallelism: 1, tagLength: 32, memory: 65536, passes: 2,
  }).toString('base64');
  const [, files] = /Max open files +([0-9]+)/.exec(readFileSync('/proc/self/limits', 'utf8')) || [];
  return { node: process.version, hashed, files: Number(files), ahead };
};
`;
