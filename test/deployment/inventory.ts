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

/** The settings of SDK clients that call the emulator. */
interface ClientSettings {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Creates functions that list the resources of the emulated account. */
export function makeInventory(settings: ClientSettings) {
  const cloudFormation = new CloudFormationClient(settings);
  const dynamo = new DynamoDBClient(settings);
  const sqs = new SQSClient(settings);
  const logs = new CloudWatchLogsClient(settings);
  const kms = new KMSClient(settings);
  const sns = new SNSClient(settings);
  const lambda = new LambdaClient(settings);
  const ssm = new SSMClient(settings);
  return { stacks, resources, identities };

  /** Returns the state of each stack, by name. */
  async function stacks(): Promise<ReadonlyMap<string, string>> {
    const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({}));
    return new Map(Stacks.map(({ StackName = '', StackStatus = '' }) => [StackName, StackStatus]));
  }

  async function resources(StackName: string): Promise<readonly StackResourceSummary[]> {
    const summaries: StackResourceSummary[] = [];
    for await (const page of paginateListStackResources({ client: cloudFormation }, { StackName }))
      summaries.push(...(page.StackResourceSummaries ?? []));
    return summaries;
  }

  /**
   * Returns the tables, queues, log groups, keys, topics, functions and parameters of all stacks as `KIND NAME`. A table, queue, log
   * group or key that is replaced under the same name has a different value. Keys that are pending deletion are excluded.
   */
  async function identities(): Promise<ReadonlyMap<string, string>> {
    const identities = new Map<string, string>();
    for await (const { TableNames = [] } of paginateListTables({ client: dynamo }, {})) {
      for (const TableName of TableNames) {
        const { Table } = await dynamo.send(new DescribeTableCommand({ TableName }));
        identities.set(`table ${TableName}`, `${Table?.TableId} ${Table?.CreationDateTime?.toISOString()}`);
      }
    }
    const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({ MaxResults: 1_000 }));
    for (const QueueUrl of QueueUrls) {
      const request = { QueueUrl, AttributeNames: ['CreatedTimestamp' as const] };
      const { Attributes } = await sqs.send(new GetQueueAttributesCommand(request));
      identities.set(`queue ${QueueUrl.split('/').at(-1)}`, `${Attributes?.CreatedTimestamp}`);
    }
    for await (const { logGroups = [] } of paginateDescribeLogGroups({ client: logs }, {}))
      for (const group of logGroups) identities.set(`log group ${group.logGroupName}`, `${group.creationTime}`);
    for await (const { Keys = [] } of paginateListKeys({ client: kms }, {})) {
      for (const { KeyId } of Keys) {
        const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId }));
        if (KeyMetadata?.KeyManager === 'CUSTOMER' && KeyMetadata.KeyState !== 'PendingDeletion')
          identities.set(`key ${KeyId}`, `${KeyMetadata.CreationDate?.toISOString()}`);
      }
    }
    const { Topics = [] } = await sns.send(new ListTopicsCommand());
    for (const { TopicArn } of Topics) identities.set(`topic ${TopicArn?.split(':').at(-1)}`, '');
    for await (const { Functions = [] } of paginateListFunctions({ client: lambda }, {}))
      for (const { FunctionName } of Functions) identities.set(`function ${FunctionName}`, '');
    for await (const { Parameters = [] } of paginateDescribeParameters({ client: ssm }, {}))
      for (const { Name = '' } of Parameters) if (!Name.startsWith('/cdk-')) identities.set(`parameter ${Name}`, '');
    return identities;
  }
}
