import { CloudWatchLogsClient, DescribeLogGroupsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { ServiceError, type ServiceRequest } from '../src/emulator.ts';
import { startServices } from '../src/services.ts';

it('services show every request to the interceptors, and answer with the first error', async () => {
  const seen: ServiceRequest[] = [];
  const published: string[] = [];
  const services = await startServices({
    interceptors: [
      request => {
        seen.push(request);
        return undefined;
      },
      () => new ServiceError('Refused', 'No.', 403),
      () => expect.unreachable(),
    ],
    data: undefined,
    ports: { sqs: 0, dynamoDb: 0 },
    isFair: true,
    onPublish: topic => published.push(topic),
  });
  const settings = (endpoint: string) => {
    const credentials = { accessKeyId: 'Token', secretAccessKey: 'b' };
    return { region: 'us-east-1', endpoint, credentials, maxAttempts: 1 };
  };
  const dynamoDb = new DynamoDBClient(settings(services.dynamoDb.endpoint));
  const sqs = new SQSClient(settings(services.sqs.endpoint));
  const sns = new SNSClient(settings(services.sqs.endpoint));
  const kms = new KMSClient(settings(services.kms.endpoint));
  const logs = new CloudWatchLogsClient(settings(services.logs.endpoint));
  const Entries = [{ Id: '1', MessageBody: 'x' }];
  const sent = [
    dynamoDb.send(new GetItemCommand({ TableName: 'T', Key: { id: { S: 'a' } } })),
    sqs.send(new SendMessageBatchCommand({ QueueUrl: services.sqs.urlOf('q'), Entries })),
    sns.send(new PublishCommand({ TopicArn: 'arn:aws:sns:us-east-1:000000000000:T', Message: 'x' })),
    kms.send(new EncryptCommand({ KeyId: 'k', Plaintext: new Uint8Array(1) })),
    logs.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: 'g' })),
  ];
  for (const outcome of await Promise.allSettled(sent)) {
    expect(outcome).toMatchObject({ reason: { name: 'Refused', $metadata: { httpStatusCode: 403 } } });
  }
  for (const client of [dynamoDb, sqs, sns, kms, logs]) client.destroy();
  await services.stop();

  expect(published).toEqual([]);
  expect(seen.map(({ service, operation }) => `${service} ${operation}`).sort()).toEqual([
    'dynamodb GetItem',
    'kms Encrypt',
    'logs DescribeLogGroups',
    'sns Publish',
    'sqs SendMessageBatch',
  ]);
  expect(new Set(seen.map(({ caller }) => caller))).toEqual(new Set(['Token']));
  expect(seen.find(({ service }) => service === 'dynamodb')?.input).toMatchObject({ TableName: 'T' });
});
