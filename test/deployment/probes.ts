import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
  UpdateStackCommand,
  waitUntilStackCreateComplete,
  waitUntilStackUpdateComplete,
} from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, GetItemCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { CreateRoleCommand, IAMClient, PutRolePolicyCommand } from '@aws-sdk/client-iam';
import { CreateKeyCommand, GenerateDataKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { CreateTopicCommand, ListSubscriptionsByTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { account, type Emulator } from './emulator.ts';
import { bringEvents } from './event-sources.ts';
import type { ClientSettings } from './inventory.ts';

/** Returns whether an update may take away an export that another stack imports. AWS answers "in use". */
export async function dropsExportInUse({ settings }: Emulator): Promise<boolean> {
  const client = new CloudFormationClient(settings);
  const queue = { Type: 'AWS::SQS::Queue' };
  await create(client, 'ProbeExporting', {
    Resources: { Queue: queue },
    Outputs: { Shared: { Value: { Ref: 'Queue' }, Export: { Name: 'probe-shared' } } },
  });
  const value = { 'Fn::ImportValue': 'probe-shared' };
  await create(client, 'ProbeImporting', {
    Resources: { Parameter: { Type: 'AWS::SSM::Parameter', Properties: { Type: 'String', Value: value } } },
  });
  return update(client, 'ProbeExporting', { Resources: { Queue: queue } });
}

/** Returns whether a function may reserve more concurrency than the account has. AWS keeps 100 unreserved, or 10 of a new account. */
export async function reservesBeyondQuota({ settings }: Emulator): Promise<boolean> {
  const client = new CloudFormationClient(settings);
  return create(client, 'ProbeReserving', { Resources: { Function: aFunction(1_000_000) } });
}

/** Returns whether the subscription of an e-mail address is confirmed though nobody confirmed it there. */
export async function confirmsSubscriptions({ settings }: Emulator): Promise<boolean> {
  const client = new SNSClient(settings);
  const { TopicArn } = await client.send(new CreateTopicCommand({ Name: 'probe-topic' }));
  await client.send(new SubscribeCommand({ TopicArn, Protocol: 'email', Endpoint: 'ops@example.com' }));
  const { Subscriptions = [] } = await client.send(new ListSubscriptionsByTopicCommand({ TopicArn }));
  return Subscriptions[0]?.SubscriptionArn?.startsWith('arn:') ?? false;
}

/** Returns whether the URL of a function has a host of AWS. */
export async function givesForeignFunctionUrls({ settings }: Emulator): Promise<boolean> {
  const client = new CloudFormationClient(settings);
  const properties = { AuthType: 'NONE', TargetFunctionArn: { 'Fn::GetAtt': ['Function', 'Arn'] } };
  await create(client, 'ProbeUrl', {
    Resources: { Function: aFunction(1), Url: { Type: 'AWS::Lambda::Url', Properties: properties } },
    Outputs: { Url: { Value: { 'Fn::GetAtt': ['Url', 'FunctionUrl'] } } },
  });
  const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: 'ProbeUrl' }));
  return new URL(Stacks?.[0]?.Outputs?.[0]?.OutputValue ?? '').hostname.endsWith('.on.aws');
}

/** Returns whether the message group of a rule's target is lost on its way to a standard queue. */
export async function dropsMessageGroup({ settings }: Emulator): Promise<boolean> {
  const client = new SQSClient(settings);
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'probe-groups' }));
  await bringEvents(settings, `arn:aws:sqs:${settings.region}:${account}:probe-groups`, 'probe');
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All'] }),
  );
  const ofRule = Messages.find(({ Body }) => Body?.includes('rule-plain'));
  return ofRule !== undefined && ofRule.Attributes?.MessageGroupId === undefined;
}

function aFunction(ReservedConcurrentExecutions: number): object {
  const Properties = {
    Role: `arn:aws:iam::${account}:role/probe`,
    Runtime: 'nodejs24.x',
    Handler: 'index.handler',
    Code: { ZipFile: 'exports.handler = async () => {};' },
    ReservedConcurrentExecutions,
  };
  return { Type: 'AWS::Lambda::Function', Properties };
}

/** Returns whether a resource that nothing changed is reported as updated with its stack. */
export async function reportsEveryResourceUpdated({ settings, ...emulator }: Emulator): Promise<boolean> {
  const client = new CloudFormationClient(settings);
  const queue = (VisibilityTimeout: number) => ({ Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout } });
  await create(client, 'ProbeUpdating', { Resources: { Same: queue(30), Other: queue(30) } });
  await update(client, 'ProbeUpdating', { Resources: { Same: queue(30), Other: queue(60) } });
  const resources = await emulator.inventory.resources('ProbeUpdating');
  return resources.find(({ LogicalResourceId: id }) => id === 'Same')?.ResourceStatus === 'UPDATE_COMPLETE';
}

/** Returns whether a new resource gets the name of the one that it replaces. AWS makes a new name for each. */
export async function repeatsPhysicalNames({ settings, ...emulator }: Emulator): Promise<boolean> {
  const client = new CloudFormationClient(settings);
  const queue = { Resources: { Queue: { Type: 'AWS::SQS::Queue' } } };
  const topic = { Resources: { Topic: { Type: 'AWS::SNS::Topic' } } };
  const nameOfQueue = async () => {
    const resources = await emulator.inventory.resources('ProbeNaming');
    return resources.find(({ LogicalResourceId: id }) => id === 'Queue')?.PhysicalResourceId;
  };
  await create(client, 'ProbeNaming', queue);
  const first = await nameOfQueue();
  await update(client, 'ProbeNaming', topic);
  await update(client, 'ProbeNaming', queue);
  return first !== undefined && first === (await nameOfQueue());
}

/** Returns whether a table is replaced where AWS would change it: its protection from deletion is switched on. */
export async function replacesChangedTables({ settings, ...emulator }: Emulator): Promise<boolean> {
  const client = new CloudFormationClient(settings);
  const table = (DeletionProtectionEnabled: boolean) => ({
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'key', AttributeType: 'S' }],
    Replicas: [{ Region: settings.region, DeletionProtectionEnabled }],
  });
  const stack = (isProtected: boolean) => ({
    Resources: { Table: { Type: 'AWS::DynamoDB::GlobalTable', Properties: table(isProtected) } },
  });
  const nameOfTable = async () => (await emulator.inventory.resources('ProbeTable'))[0]?.PhysicalResourceId;
  await create(client, 'ProbeTable', stack(false));
  const before = await nameOfTable();
  await update(client, 'ProbeTable', stack(true));
  return before !== undefined && before !== (await nameOfTable());
}

/** Returns whether credentials that nobody issued may do everything. */
export async function takesAnyCredentials({ settings }: Emulator): Promise<boolean> {
  const client = new DynamoDBClient({ ...settings, credentials: { accessKeyId: 'NOBODY', secretAccessKey: 'none' } });
  return isAllowed(client.send(new ListTablesCommand()));
}

/** Returns whether a role that nobody made, of an account of somebody else, may be assumed. */
export async function assumesForeignRole({ settings }: Emulator): Promise<boolean> {
  const role = { RoleArn: 'arn:aws:iam::111111111111:role/nobody', RoleSessionName: 'probe' };
  return isAllowed(new STSClient(settings).send(new AssumeRoleCommand(role)));
}

/** The judgements in which an emulator that enforces IAM differs from AWS. */
export interface PolicyJudgements {
  /** `sqs:SendMessage` does not allow `SendMessageBatch`. */
  readonly refusesBatches: boolean;
  /** A condition on `kms:EncryptionContext:…` that holds does not allow the call. */
  readonly refusesEncryptionContext: boolean;
  /** A condition on `dynamodb:LeadingKeys` that does not hold allows the call. */
  readonly ignoresLeadingKeys: boolean;
}

/** Asks an emulator that enforces IAM (`AUTH=true`) for the three things of which the stages' policies make use. */
export async function judgePolicies({ settings }: Emulator): Promise<PolicyJudgements> {
  const root = { ...settings, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
  const { QueueUrl } = await new SQSClient(root).send(new CreateQueueCommand({ QueueName: 'probe' }));
  const { KeyMetadata } = await new KMSClient(root).send(new CreateKeyCommand());
  const table = {
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'key', AttributeType: 'S' }],
    TableName: 'probe',
  };
  const stack = { Resources: { Table: { Type: 'AWS::DynamoDB::Table', Properties: table } } };
  await create(new CloudFormationClient(root), 'Probe', stack);

  const client = await assumeNewRole(root, 'probe', [
    { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: '*' },
    allowed('kms:GenerateDataKey', { StringEquals: { 'kms:EncryptionContext:purpose': 'right' } }),
    allowed('dynamodb:GetItem', { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['right'] } }),
  ]);
  const message = { Id: '1', MessageBody: 'probe' };
  const queues = new SQSClient(client);
  // Without this one the refusals below would say nothing.
  if (!(await isAllowed(queues.send(new SendMessageCommand({ QueueUrl, MessageBody: 'probe' }))))) {
    throw new Error('The role of the probes may not even send a message.');
  }
  return {
    refusesBatches: !(await isAllowed(queues.send(new SendMessageBatchCommand({ QueueUrl, Entries: [message] })))),
    refusesEncryptionContext: !(await isAllowed(
      new KMSClient(client).send(
        new GenerateDataKeyCommand({
          KeyId: KeyMetadata?.KeyId,
          KeySpec: 'AES_256',
          EncryptionContext: { purpose: 'right' },
        }),
      ),
    )),
    ignoresLeadingKeys: await isAllowed(
      new DynamoDBClient(client).send(new GetItemCommand({ TableName: 'probe', Key: { key: { S: 'wrong' } } })),
    ),
  };
}

function allowed(Action: string, Condition: object): object {
  return { Effect: 'Allow', Action, Resource: '*', Condition };
}

/**
 * Makes a role, and returns the settings of a client that has assumed it.
 *
 * @param root - the root user of the role's account.
 */
export async function assumeNewRole(
  root: ClientSettings,
  name: string,
  statements: readonly object[],
  ofAccount = account,
): Promise<ClientSettings> {
  const iam = new IAMClient(root);
  const policy = (Statement: readonly object[]) => JSON.stringify({ Version: '2012-10-17', Statement });
  const trust = { Effect: 'Allow', Principal: { AWS: '*' }, Action: 'sts:AssumeRole' };
  await iam.send(new CreateRoleCommand({ RoleName: name, AssumeRolePolicyDocument: policy([trust]) }));
  await iam.send(new PutRolePolicyCommand({ RoleName: name, PolicyName: name, PolicyDocument: policy(statements) }));
  const role = { RoleArn: `arn:aws:iam::${ofAccount}:role/${name}`, RoleSessionName: name };
  const { Credentials } = await new STSClient(root).send(new AssumeRoleCommand(role));
  const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '' } = Credentials ?? {};
  const credentials = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
  return { ...root, credentials };
}

/** Returns whether a call was answered, and not refused by a policy. @throws for any other error. */
async function isAllowed(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof Error && /AccessDenied|InvalidClientTokenId|UnrecognizedClient/.test(error.name)) return false;
    throw error;
  }
}

/** Creates a stack. Returns whether it came about. */
async function create(client: CloudFormationClient, StackName: string, template: object): Promise<boolean> {
  await client.send(new CreateStackCommand({ StackName, TemplateBody: JSON.stringify(template) }));
  await waitUntilStackCreateComplete({ client, ...waiting }, { StackName }).catch(() => {});
  return (await stateOf(client, StackName)) === 'CREATE_COMPLETE';
}

/** Updates a stack. Returns whether that succeeded. */
async function update(client: CloudFormationClient, StackName: string, template: object): Promise<boolean> {
  await client.send(new UpdateStackCommand({ StackName, TemplateBody: JSON.stringify(template) }));
  await waitUntilStackUpdateComplete({ client, ...waiting }, { StackName }).catch(() => {});
  return (await stateOf(client, StackName)) === 'UPDATE_COMPLETE';
}

async function stateOf(client: CloudFormationClient, StackName: string): Promise<string | undefined> {
  return (await client.send(new DescribeStacksCommand({ StackName }))).Stacks?.[0]?.StackStatus;
}

/** Seconds. */
const waiting = { minDelay: 0.2, maxDelay: 1, maxWaitTime: 30 };
