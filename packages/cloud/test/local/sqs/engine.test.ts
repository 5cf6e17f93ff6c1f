import { PublishCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type Message,
  type QueueAttributeName,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
  type SendMessageCommandInput,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { queueArn } from '../../../src/local/assembly/identities.ts';
import { type QueueServiceOptions, queueOf, startSqs } from '../../../src/local/sqs/engine.ts';
import { liveResource } from '../live-resource.ts';
import { forTest, settingsOf } from '../sdk-client.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

const directory = temporaryDirectory();

/** Starts the engine with a queue, and what sends to it and receives from it. */
const start = async (attributes: Readonly<Record<string, string>> = {}, options: QueueServiceOptions = {}) => {
  const sqs = await startSqs(options);
  sqs.ensureQueue({ name: 'q', attributes });
  const client = forTest(new SQSClient(settingsOf(sqs.endpoint)));
  const own = { QueueUrl: sqs.urlOf('q') };
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= sqs.stop());
  onTestFinished(stop);
  return {
    sqs,
    client,
    stop,
    send: (MessageBody: string, more: Partial<SendMessageCommandInput> = {}) =>
      client.send(new SendMessageCommand({ ...own, MessageBody, ...more })),
    sendBatch: (Entries: SendMessageBatchRequestEntry[]) =>
      client.send(new SendMessageBatchCommand({ ...own, Entries })),
    receive: async (QueueUrl: string | undefined = own.QueueUrl): Promise<readonly Message[]> => {
      const asked = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      });
      return (await client.send(asked)).Messages ?? [];
    },
    attribute: async (name: QueueAttributeName) => {
      const asked = new GetQueueAttributesCommand({ ...own, AttributeNames: [name] });
      return (await client.send(asked)).Attributes?.[name];
    },
    show: ({ ReceiptHandle }: Message = {}) =>
      client.send(new ChangeMessageVisibilityCommand({ ...own, ReceiptHandle, VisibilityTimeout: 0 })),
  };
};

const bodiesOf = (messages: readonly Message[]) => messages.map(({ Body }) => Body);

describe('bodies', () => {
  it.each([
    ['a character beyond U+FFFF', 'a\u{1f600}b', true],
    ['a control character', 'a\u0001b', false],
    ['a non-character', 'a\ufffeb', false],
  ])('with %s: accepted %s, as by SQS', async (_case, body, isTaken) => {
    const { send } = await start();
    await (isTaken
      ? expect(send(body)).resolves.toHaveProperty('MessageId')
      : expect(send(body)).rejects.toMatchObject({ name: expect.stringMatching(/InvalidMessageContents$/) }));
  });
});

describe('a delay', () => {
  it.each([901, -1, 0.3])('of %d seconds is refused, as by SQS, alone and in a batch', async DelaySeconds => {
    const { send, sendBatch, receive } = await start();
    const refusal = { name: 'InvalidParameterValue' };
    await expect(send('x', { DelaySeconds })).rejects.toMatchObject(refusal);
    const entries = [0, DelaySeconds].map((delay, at) => ({ Id: `${at}`, MessageBody: 'x', DelaySeconds: delay }));
    await expect(sendBatch(entries)).rejects.toMatchObject(refusal);
    expect(await receive()).toEqual([]);
  });

  it('of 15 minutes hides a message', async () => {
    const { send, receive } = await start();
    await send('x', { DelaySeconds: 900 });
    expect(await receive()).toEqual([]);
  });
});

describe('kept queues', () => {
  it('keep a message whose visibility is set to 0, with its receive count: the engine lost it', async () => {
    const first = await start({ VisibilityTimeout: '300' }, { directory });
    await first.send('x');
    for (let receipt = 0; receipt < 2; receipt++) await first.show((await first.receive())[0]);
    await first.stop();
    const again = await start({}, { directory });
    expect(await again.receive()).toMatchObject([{ Body: 'x', Attributes: { ApproximateReceiveCount: '3' } }]);
  });

  it("take the template's new attributes and this run's port", async () => {
    await (await start({ VisibilityTimeout: '30' }, { directory })).stop();
    const { sqs, client, attribute } = await start({ VisibilityTimeout: '60' }, { directory });
    const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: 'q' }));
    expect(QueueUrl).toBe(sqs.urlOf('q'));
    expect(await attribute('VisibilityTimeout')).toBe('60');
  });
});

it('moves a message to the dead letters after its last receive', async () => {
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn('dead'), maxReceiveCount: 1 });
  const { sqs, send, receive } = await start({ VisibilityTimeout: '0', RedrivePolicy });
  sqs.ensureQueue({ name: 'dead', attributes: {} });
  await send('x');
  expect(await receive()).toHaveLength(1);
  expect(await receive()).toHaveLength(0);
  expect(await receive(sqs.urlOf('dead'))).toHaveLength(1);
});

it('sends to a subscribed queue what its filter lets through, and shows each notification without its content', async () => {
  const shown: string[] = [];
  const { sqs, client, receive } = await start({}, { onPublish: (...words) => shown.push(words.join(': ')) });
  sqs.ensureTopic('refused');
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'mine' }));
  const topics = forTest(new SNSClient(settingsOf(sqs.endpoint)));
  const TopicArn = 'arn:aws:sns:us-east-1:000000000000:refused';
  const Attributes = {
    RawMessageDelivery: 'true',
    FilterPolicy: JSON.stringify({ sender: [{ prefix: 'AROAMINE:' }] }),
  };
  await topics.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint: queueArn('mine'), Attributes }));
  for (const sender of ['AROAMINE:one', 'AROAOTHER:one', 'AROAMINE:two']) {
    const MessageAttributes = { sender: { DataType: 'String', StringValue: sender } };
    const Message = `of ${sender}`;
    await topics.send(new PublishCommand({ TopicArn, Subject: 'a subject', Message, MessageAttributes }));
  }
  expect(bodiesOf(await receive(QueueUrl))).toEqual(['of AROAMINE:one', 'of AROAMINE:two']);
  expect(shown).toEqual(Array(3).fill('refused: a subject'));
});

it('reads a queue as the CDK writes it', () => {
  const properties = {
    VisibilityTimeout: 180,
    SqsManagedSseEnabled: true,
    RedrivePolicy: { deadLetterTargetArn: 'arn', maxReceiveCount: 100 },
  };
  expect(queueOf(liveResource('AWS::SQS::Queue', properties, { logicalId: 'Events' }))).toEqual({
    name: 'App-Events',
    attributes: { VisibilityTimeout: '180', RedrivePolicy: '{"deadLetterTargetArn":"arn","maxReceiveCount":100}' },
  });
});

it('counts messages right while nobody receives: visible messages were counted as hidden', async () => {
  const { send, receive, attribute } = await start({ VisibilityTimeout: '1' });
  const waiting = () => attribute('ApproximateNumberOfMessages');
  await send('at once');
  await send('later', { DelaySeconds: 1 });
  expect(await waiting()).toBe('1');
  expect(await receive()).toHaveLength(1);
  expect(await waiting()).toBe('0');
  await vi.waitFor(async () => expect(await waiting()).toBe('2'), { timeout: 10_000 });
});

it('tells the group and the sender of a message, alone or in a batch: the engine drops both', async () => {
  const { sqs, send, sendBatch, receive } = await start();
  const other = forTest(new SQSClient(settingsOf(sqs.endpoint, 'AIDACRM')));
  const MessageAttributes = { reason: { DataType: 'String', StringValue: 'x' } };
  await send('one', { MessageGroupId: 'acme' });
  await sendBatch([
    { Id: '1', MessageBody: 'two', MessageGroupId: 'beta', DelaySeconds: 0 },
    { Id: '2', MessageBody: 'three', MessageAttributes },
  ]);
  await other.send(new SendMessageCommand({ QueueUrl: sqs.urlOf('q'), MessageBody: 'four' }));
  const received = await receive();
  expect(
    received.map(({ Body, Attributes, ...message }) => {
      return [Body, Attributes?.MessageGroupId, Attributes?.SenderId, Object.keys(message.MessageAttributes ?? {})];
    }),
  ).toEqual([
    ['one', 'acme', 'a', []],
    ['two', 'beta', 'a', []],
    ['three', undefined, 'a', ['reason']],
    ['four', undefined, 'AIDACRM', []],
  ]);
});

it('hands out the messages of quiet groups first', async () => {
  const { sendBatch, receive } = await start({ VisibilityTimeout: '60' });
  const sendTen = (MessageGroupId: string) =>
    sendBatch(Array.from({ length: 10 }, (_, at) => ({ Id: `${at}`, MessageBody: MessageGroupId, MessageGroupId })));
  for (let round = 0; round < 4; round++) await sendTen('loud');
  for (let round = 0; round < 3; round++) await receive();
  await sendTen('quiet');
  expect(bodiesOf(await receive())[0]).toBe('quiet');
});
