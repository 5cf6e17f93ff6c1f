import { PublishCommand, SNSClient, SubscribeCommand, UnsubscribeCommand } from '@aws-sdk/client-sns';
import { expect, it, onTestFinished } from 'vitest';
import { startSns } from '../../src/local/sns.ts';
import type { Sent } from '../../src/sqs/queue.ts';
import { destroyAfterTest, settingsOf } from './sdk-client.ts';

const TopicArn = 'arn:aws:sns:us-east-1:000000000000:refused';
const Endpoint = 'arn:aws:sqs:us-east-1:000000000000:mine';

async function start() {
  const published: string[] = [];
  const sent: [string, Sent][] = [];
  const sns = await startSns(
    [],
    (...words) => published.push(words.join(': ')),
    (...message) => sent.push(message),
  );
  onTestFinished(sns.stop);
  return { published, sent, client: destroyAfterTest(new SNSClient(settingsOf(sns.endpoint))) };
}

it('sends matching messages to a subscribed queue and reports each topic and subject', async () => {
  const { published, sent, client } = await start();
  const FilterPolicy = JSON.stringify({ sender: [{ prefix: 'AROAMINE:' }, 'AIDAMINE'] });
  const Attributes = { RawMessageDelivery: 'true', FilterPolicy };
  const subscription = new SubscribeCommand({
    TopicArn,
    Protocol: 'sqs',
    Endpoint,
    Attributes,
    ReturnSubscriptionArn: true,
  });
  const { SubscriptionArn } = await client.send(subscription);
  const attributesOf = (sender: string) => ({ sender: { DataType: 'String', StringValue: sender } });
  const publish = (sender: string) => {
    const Message = `of <${sender}> & "all"`;
    return client.send(
      new PublishCommand({ TopicArn, Subject: 'a subject', Message, MessageAttributes: attributesOf(sender) }),
    );
  };
  const senders = ['AROAMINE:one', 'AROAOTHER:one', 'AIDAMINE'];
  for (const sender of senders) expect(await publish(sender)).toMatchObject({ MessageId: expect.any(String) });
  await client.send(new UnsubscribeCommand({ SubscriptionArn }));
  await publish('AIDAMINE');
  expect(sent).toEqual(
    ['AROAMINE:one', 'AIDAMINE'].map(sender => {
      return [Endpoint, { body: `of <${sender}> & "all"`, attributes: attributesOf(sender) }];
    }),
  );
  expect(published).toEqual(Array(4).fill('refused: a subject'));
});

it('rejects empty messages and unsupported subscriptions', async () => {
  const { client, published } = await start();
  await expect(client.send(new PublishCommand({ TopicArn, Message: '' }))).rejects.toMatchObject({
    name: 'InvalidParameterException',
    message: 'The request must contain a topic and a message.',
  });
  for (const Protocol of ['email', 'sqs']) {
    const subscription = new SubscribeCommand({ TopicArn, Protocol, Endpoint });
    await expect(client.send(subscription)).rejects.toMatchObject({ message: expect.stringMatching(/^Only queues/) });
  }
  expect(published).toEqual([]);
});
