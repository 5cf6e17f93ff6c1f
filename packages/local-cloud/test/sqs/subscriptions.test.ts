import { PublishCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterEach, describe, expect, it } from 'vitest';
import { queueArn } from '../../src/assembly/identities.ts';
import { startSqs } from '../../src/sqs/engine.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const start = async () => {
  const shown: string[] = [];
  const sqs = await startSqs({ onPublish: (topic, subject) => shown.push(`${topic}: ${subject}`) });
  ends.push(sqs.stop);
  const settings = (accessKeyId: string) => ({
    region: 'us-east-1',
    endpoint: sqs.endpoint,
    credentials: { accessKeyId, secretAccessKey: 's' },
  });
  const queues = (accessKeyId = 'local') => {
    const client = new SQSClient(settings(accessKeyId));
    ends.push(() => client.destroy());
    return client;
  };
  const topics = new SNSClient(settings('local'));
  ends.push(() => topics.destroy());
  return { sqs, queues, topics, shown };
};

const receive = async (client: SQSClient, QueueUrl: string | undefined) => {
  const command = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames: ['All'],
  });
  return (await client.send(command)).Messages ?? [];
};

describe('a topic', () => {
  it('sends to a subscribed queue what its filter lets through, and shows each notification without its content', async () => {
    const { sqs, queues, topics, shown } = await start();
    sqs.ensureTopic('refused');
    const client = queues();
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'mine' }));
    await topics.send(
      new SubscribeCommand({
        TopicArn: 'arn:aws:sns:us-east-1:000000000000:refused',
        Protocol: 'sqs',
        Endpoint: queueArn('mine'),
        Attributes: { RawMessageDelivery: 'true', FilterPolicy: JSON.stringify({ sender: [{ prefix: 'AROAMINE:' }] }) },
      }),
    );
    for (const sender of ['AROAMINE:one', 'AROAOTHER:one', 'AROAMINE:two']) {
      await topics.send(
        new PublishCommand({
          TopicArn: 'arn:aws:sns:us-east-1:000000000000:refused',
          Subject: 'refused',
          Message: `of ${sender}`,
          MessageAttributes: { sender: { DataType: 'String', StringValue: sender } },
        }),
      );
    }
    expect((await receive(client, QueueUrl)).map(({ Body }) => Body)).toEqual(['of AROAMINE:one', 'of AROAMINE:two']);
    expect(shown).toEqual(Array(3).fill('refused: refused'));
  });
});

describe('a received message', () => {
  it('names who sent it, alone or in a batch, though the engine names the account', async () => {
    const { sqs, queues } = await start();
    sqs.ensureQueue({ name: 'q', attributes: {} });
    const QueueUrl = sqs.urlOf('q');
    const MessageAttributes = { reason: { DataType: 'String', StringValue: 'x' } };
    await queues('AROASHOP:pod-1').send(new SendMessageCommand({ QueueUrl, MessageBody: 'one' }));
    await queues('AIDACRM').send(
      new SendMessageBatchCommand({
        QueueUrl,
        Entries: [
          { Id: 'a', MessageBody: 'two' },
          { Id: 'b', MessageBody: 'three', MessageAttributes },
        ],
      }),
    );
    const received = await receive(queues(), QueueUrl);
    expect(received.map(({ Body, Attributes }) => [Body, Attributes?.SenderId])).toEqual([
      ['one', 'AROASHOP:pod-1'],
      ['two', 'AIDACRM'],
      ['three', 'AIDACRM'],
    ]);
  });
});
