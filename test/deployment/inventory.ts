import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
  type StackResourceSummary,
} from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient, paginateDescribeLogGroups } from '@aws-sdk/client-cloudwatch-logs';
import { DescribeTableCommand, DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { DescribeKeyCommand, KMSClient, paginateListKeys } from '@aws-sdk/client-kms';
import { LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda';
import { ListTopicsCommand, SNSClient } from '@aws-sdk/client-sns';
import { GetQueueAttributesCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { paginateDescribeParameters, SSMClient } from '@aws-sdk/client-ssm';

/** A resource: `KIND NAME`, and what tells it from another one that was made in its place under the same name. */
type Identities = ReadonlyMap<string, string>;

/** The settings that make a client of the SDK call the emulator. */
export interface ClientSettings {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** The contents of an account. */
export interface Inventory {
  /** Names and states of the stacks that are there. */
  stacks(): Promise<ReadonlyMap<string, string>>;
  /** The resources of a stack. */
  resources(stack: string): Promise<readonly StackResourceSummary[]>;
  /** Tables, queues, log groups, keys, topics, functions and parameters, whichever stack made them. Keys that are being deleted are left out. */
  identities(): Promise<Identities>;
}

/** Looks into the account of an emulator. */
export function makeInventory(settings: ClientSettings): Inventory {
  const cloudFormation = new CloudFormationClient(settings);
  const dynamo = new DynamoDBClient(settings);
  const sqs = new SQSClient(settings);
  const logs = new CloudWatchLogsClient(settings);
  const kms = new KMSClient(settings);
  const sns = new SNSClient(settings);
  const lambda = new LambdaClient(settings);
  const ssm = new SSMClient(settings);

  async function* tables() {
    for await (const { TableNames = [] } of paginateListTables({ client: dynamo }, {})) {
      for (const TableName of TableNames) {
        const { Table } = await dynamo.send(new DescribeTableCommand({ TableName }));
        yield [`table ${TableName}`, `${Table?.TableId} ${Table?.CreationDateTime?.toISOString()}`] as const;
      }
    }
  }

  async function* queues() {
    const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({ MaxResults: 1_000 }));
    for (const QueueUrl of QueueUrls) {
      const wanted = { QueueUrl, AttributeNames: ['CreatedTimestamp' as const] };
      const { Attributes } = await sqs.send(new GetQueueAttributesCommand(wanted));
      yield [`queue ${QueueUrl.split('/').at(-1)}`, `${Attributes?.CreatedTimestamp}`] as const;
    }
  }

  async function* logGroups() {
    for await (const { logGroups: groups = [] } of paginateDescribeLogGroups({ client: logs }, {})) {
      for (const { logGroupName, creationTime } of groups) {
        yield [`log group ${logGroupName}`, `${creationTime}`] as const;
      }
    }
  }

  async function* keys() {
    for await (const { Keys = [] } of paginateListKeys({ client: kms }, {})) {
      for (const { KeyId } of Keys) {
        const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId }));
        if (KeyMetadata?.KeyManager !== 'CUSTOMER' || KeyMetadata.KeyState === 'PendingDeletion') continue;
        yield [`key ${KeyId}`, `${KeyMetadata.CreationDate?.toISOString()}`] as const;
      }
    }
  }

  async function* topics() {
    const { Topics = [] } = await sns.send(new ListTopicsCommand());
    for (const { TopicArn } of Topics) yield [`topic ${TopicArn?.split(':').at(-1)}`, ''] as const;
  }

  async function* functions() {
    for await (const { Functions = [] } of paginateListFunctions({ client: lambda }, {})) {
      for (const { FunctionName } of Functions) yield [`function ${FunctionName}`, ''] as const;
    }
  }

  async function* parameters() {
    for await (const { Parameters = [] } of paginateDescribeParameters({ client: ssm }, {})) {
      for (const { Name = '' } of Parameters) if (!Name.startsWith('/cdk-')) yield [`parameter ${Name}`, ''] as const;
    }
  }

  return {
    stacks: async () => {
      const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({}));
      return new Map(Stacks.map(({ StackName = '', StackStatus = '' }) => [StackName, StackStatus]));
    },
    resources: async StackName => {
      const found: StackResourceSummary[] = [];
      for await (const page of paginateListStackResources({ client: cloudFormation }, { StackName })) {
        found.push(...(page.StackResourceSummaries ?? []));
      }
      return found;
    },
    identities: async () => {
      const found = new Map<string, string>();
      for (const list of [tables(), queues(), logGroups(), keys(), topics(), functions(), parameters()]) {
        for await (const [name, identity] of list) found.set(name, identity);
      }
      return found;
    },
  };
}
