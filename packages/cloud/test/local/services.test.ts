import { CloudWatchLogsClient, DescribeLogGroupsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { GenerateDataKeyWithoutPlaintextCommand, KMSClient } from '@aws-sdk/client-kms';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { ServiceError, type ServiceRequest } from '../../src/local/emulator.ts';
import { startServices } from '../../src/local/services.ts';
import { forTest, settingsOf } from './sdk-client.ts';

it.each([403, 500])(
  'services show every request to the interceptors, and answer with the first error: %i',
  async status => {
    const seen: ServiceRequest[] = [];
    const published: string[] = [];
    const services = await startServices({
      interceptors: [
        request => {
          seen.push(request);
          return undefined;
        },
        () => new ServiceError('Refused', 'No.', status),
        () => expect.unreachable(),
      ],
      data: undefined,
      ports: {},
      onPublish: topic => published.push(topic),
    });
    const { dynamoDb, sqs, sns, kms, logs } = services;
    const TopicArn = 'arn:aws:sns:us-east-1:000000000000:T';
    const [QueueUrl, Entries] = [sqs.urlOf('q'), [{ Id: '1', MessageBody: 'x' }]];
    const settings = ({ endpoint }: { readonly endpoint: string }) => settingsOf(endpoint, 'Token');
    const sent = [
      forTest(new DynamoDBClient(settings(dynamoDb))).send(
        new GetItemCommand({ TableName: 'T', Key: { id: { S: 'a' } } }),
      ),
      forTest(new SQSClient(settings(sqs))).send(new SendMessageBatchCommand({ QueueUrl, Entries })),
      forTest(new SNSClient(settings(sns))).send(new PublishCommand({ TopicArn, Message: 'x' })),
      forTest(new KMSClient(settings(kms))).send(
        new GenerateDataKeyWithoutPlaintextCommand({ KeyId: 'k', NumberOfBytes: 1 }),
      ),
      forTest(new CloudWatchLogsClient(settings(logs))).send(new DescribeLogGroupsCommand({ logGroupNamePrefix: 'g' })),
    ];
    for (const outcome of await Promise.allSettled(sent)) {
      expect(outcome).toMatchObject({ reason: { name: 'Refused', $metadata: { httpStatusCode: status } } });
    }
    await services.stop();

    expect(published).toEqual([]);
    expect(seen.map(({ service, operation }) => `${service} ${operation}`).sort()).toEqual([
      'dynamodb GetItem',
      'kms GenerateDataKeyWithoutPlaintext',
      'logs DescribeLogGroups',
      'sns Publish',
      'sqs SendMessageBatch',
    ]);
    expect(new Set(seen.map(({ caller }) => caller))).toEqual(new Set(['Token']));
    expect(seen.find(({ service }) => service === 'dynamodb')?.input).toMatchObject({ TableName: 'T' });
  },
);
