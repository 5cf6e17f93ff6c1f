import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LiveResource } from '../../src/assembly/resources.ts';
import { makeFaultInterceptor } from '../../src/fault-injection.ts';
import { type QueueService, queueOf, startSqs } from '../../src/sqs/engine.ts';

const directory = mkdtempSync(join(tmpdir(), 'local-cloud-sqs-'));
const ends: (() => unknown)[] = [];

const start = async (kept?: string): Promise<{ sqs: QueueService; client: SQSClient; stop(): Promise<void> }> => {
  const sqs = await startSqs({
    onPublish: () => undefined,
    ...(kept === undefined ? {} : { directory: kept }),
  });
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const client = new SQSClient({ region: 'us-east-1', endpoint: sqs.endpoint, credentials, maxAttempts: 1 });
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    client.destroy();
    await sqs.stop();
  };
  ends.push(stop);
  return { sqs, client, stop };
};

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  rmSync(directory, { recursive: true, force: true });
});

const receive = async (client: SQSClient, QueueUrl: string) =>
  (await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))).Messages ?? [];

describe('bodies', () => {
  it.each([
    ['a character beyond U+FFFF', 'a\u{1f600}b', true],
    ['a control character', 'a\u0001b', false],
    ['a non-character', 'a\ufffeb', false],
  ])('with %s: accepted %s, as by SQS', async (_case, MessageBody, isTaken) => {
    const { sqs, client } = await start();
    sqs.ensureQueue({ name: 'q', attributes: {} });
    const sent = client.send(new SendMessageCommand({ QueueUrl: sqs.urlOf('q'), MessageBody }));
    await (isTaken
      ? expect(sent).resolves.toHaveProperty('MessageId')
      : expect(sent).rejects.toMatchObject({ name: expect.stringMatching(/InvalidMessageContents$/) }));
  });
});

describe('delays', () => {
  it('over 15 minutes, negative or fractional are refused, as by SQS', async () => {
    const { sqs, client } = await start();
    sqs.ensureQueue({ name: 'q', attributes: {} });
    const send = (DelaySeconds: number) =>
      client.send(new SendMessageCommand({ QueueUrl: sqs.urlOf('q'), MessageBody: 'x', DelaySeconds }));
    await expect(send(901)).rejects.toMatchObject({ name: 'InvalidParameterValue' });
    await expect(send(-1)).rejects.toMatchObject({ name: 'InvalidParameterValue' });
    await expect(send(0.3)).rejects.toMatchObject({ name: 'SerializationException' });
    await expect(send(900)).resolves.toHaveProperty('MessageId');
    expect(await receive(client, sqs.urlOf('q'))).toEqual([]);
  });

  it('of single entries fail those entries of a batch only', async () => {
    const { sqs, client } = await start();
    sqs.ensureQueue({ name: 'q', attributes: {} });
    const send = (...delays: number[]) =>
      client.send(
        new SendMessageBatchCommand({
          QueueUrl: sqs.urlOf('q'),
          Entries: delays.map((DelaySeconds, index) => ({ Id: `e${index}`, MessageBody: `m${index}`, DelaySeconds })),
        }),
      );
    const mixed = await send(0, 5000, 0);
    expect(mixed.Successful?.map(({ Id }) => Id)).toEqual(['e0', 'e2']);
    expect(mixed.Failed).toEqual([
      { Id: 'e1', SenderFault: true, Code: 'InvalidParameterValue', Message: expect.stringContaining('5000') },
    ]);
    expect((await send(901)).Failed).toHaveLength(1);
    await expect(send(0, 1.5)).rejects.toMatchObject({ name: 'SerializationException' });
    expect((await receive(client, sqs.urlOf('q'))).map(({ Body }) => Body)).toEqual(['m0', 'm2']);
  });
});

describe('kept queues', () => {
  it('keep a message whose visibility is set to 0, with its receive count', async () => {
    const { sqs, client, stop } = await start(directory);
    sqs.ensureQueue({ name: 'q', attributes: {} });
    const QueueUrl = sqs.urlOf('q');
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' }));
    const [first] = await receive(client, QueueUrl);
    await client.send(
      new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: first?.ReceiptHandle, VisibilityTimeout: 0 }),
    );
    expect(await receive(client, QueueUrl)).toHaveLength(1);
    await stop();
    const again = await start(directory);
    const names = ['ApproximateNumberOfMessagesNotVisible'] as const;
    const counts = await again.client.send(
      new GetQueueAttributesCommand({ QueueUrl: again.sqs.urlOf('q'), AttributeNames: [...names] }),
    );
    expect(counts.Attributes).toEqual({ ApproximateNumberOfMessagesNotVisible: '1' });
  });

  it('keep a message visible that was set so, with its receive count', async () => {
    const first = await start(directory);
    first.sqs.ensureQueue({ name: 'q', attributes: { VisibilityTimeout: '300' } });
    const QueueUrl = first.sqs.urlOf('q');
    await first.client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' }));
    const [{ ReceiptHandle } = {}] = await receive(first.client, QueueUrl);
    await first.client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
    await first.stop();

    const { sqs, client } = await start(directory);
    const again = new ReceiveMessageCommand({
      QueueUrl: sqs.urlOf('q'),
      MessageSystemAttributeNames: ['ApproximateReceiveCount'],
    });
    const { Messages } = await client.send(again);
    expect(Messages).toMatchObject([{ Body: 'x', Attributes: { ApproximateReceiveCount: '2' } }]);
  });

  it("keep their messages and take the template's new attributes and this run's port", async () => {
    const first = await start(directory);
    first.sqs.ensureQueue({ name: 'q', attributes: { VisibilityTimeout: '30' } });
    await first.client.send(new SendMessageCommand({ QueueUrl: first.sqs.urlOf('q'), MessageBody: 'kept' }));
    await first.stop();

    const { sqs, client } = await start(directory);
    sqs.ensureQueue({ name: 'q', attributes: { VisibilityTimeout: '60' } });
    const { QueueUrl = '' } = await client.send(new GetQueueUrlCommand({ QueueName: 'q' }));
    expect(QueueUrl).toBe(sqs.urlOf('q'));
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['VisibilityTimeout'] }),
    );
    expect(Attributes).toEqual({ VisibilityTimeout: '60' });
    expect((await receive(client, QueueUrl)).map(({ Body }) => Body)).toEqual(['kept']);
  });
});

it('moves a message to the dead letters after its last receive', async () => {
  const { sqs, client } = await start();
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:dead';
  sqs.ensureQueue({ name: 'dead', attributes: {} });
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
  sqs.ensureQueue({ name: 'q', attributes: { VisibilityTimeout: '0', RedrivePolicy } });
  await client.send(new SendMessageCommand({ QueueUrl: sqs.urlOf('q'), MessageBody: 'x' }));
  expect(await receive(client, sqs.urlOf('q'))).toHaveLength(1);
  expect(await receive(client, sqs.urlOf('q'))).toHaveLength(0);
  expect(await receive(client, sqs.urlOf('dead'))).toHaveLength(1);
});

it('reports notifications by topic and subject', async () => {
  const published: string[][] = [];
  const sqs = await startSqs({ onPublish: (...words) => published.push(words) });
  ends.push(sqs.stop);
  sqs.ensureTopic('Operations');
  const body = new URLSearchParams({
    Action: 'Publish',
    TopicArn: 'arn:aws:sns:us-east-1:000000000000:Operations',
    Subject: 'Alarm',
    Message: 'secret',
  });
  expect((await fetch(sqs.endpoint, { method: 'POST', body })).status).toBe(200);
  expect(published).toEqual([['Operations', 'Alarm']]);
});

it('reads a queue as the CDK writes it', () => {
  const resource: LiveResource = {
    stack: 'App',
    logicalId: 'Events',
    type: 'AWS::SQS::Queue',
    properties: {
      VisibilityTimeout: 180,
      SqsManagedSseEnabled: true,
      RedrivePolicy: { deadLetterTargetArn: 'arn', maxReceiveCount: 100 },
    },
  };
  expect(queueOf(resource)).toEqual({
    name: 'App-Events',
    attributes: { VisibilityTimeout: '180', RedrivePolicy: '{"deadLetterTargetArn":"arn","maxReceiveCount":100}' },
  });
});

/** Every fault that may happen happens. */
const injectAll = makeFaultInterceptor({ happens: () => true });

it('refuses messages of functions when that fault is injected, and nothing else', async () => {
  const sqs = await startSqs({ interceptors: [injectAll], onPublish: () => undefined });
  ends.push(() => sqs.stop());
  sqs.ensureQueue({ name: 'q', attributes: {} });
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const client = new SQSClient({ region: 'us-east-1', endpoint: sqs.endpoint, credentials, maxAttempts: 1 });
  const send = new SendMessageCommand({ QueueUrl: sqs.urlOf('q'), MessageBody: 'x' });
  await expect(client.send(send)).rejects.toMatchObject({ name: 'RequestThrottled' });
  expect(await receive(client, sqs.urlOf('q'))).toEqual([]);
  client.destroy();
});

it('fails notifications of functions when that fault is injected: they are not reported', async () => {
  const published: string[] = [];
  const sqs = await startSqs({ interceptors: [injectAll], onPublish: topic => published.push(topic) });
  ends.push(() => sqs.stop());
  sqs.ensureTopic('Operations');
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const client = new SNSClient({ region: 'us-east-1', endpoint: sqs.endpoint, credentials, maxAttempts: 1 });
  const TopicArn = 'arn:aws:sns:us-east-1:000000000000:Operations';
  await expect(client.send(new PublishCommand({ TopicArn, Message: 'x' }))).rejects.toMatchObject({
    name: 'InternalErrorException',
    $metadata: { httpStatusCode: 500 },
  });
  expect(published).toEqual([]);
  client.destroy();
});

describe('a count of messages', () => {
  const waiting = async (client: SQSClient, QueueUrl: string) => {
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] });
    return (await client.send(command)).Attributes?.ApproximateNumberOfMessages;
  };

  it('is right while nobody receives: visible messages were counted as hidden', async () => {
    const { sqs, client } = await start();
    sqs.ensureQueue({ name: 'q', attributes: { VisibilityTimeout: '1' } });
    const QueueUrl = sqs.urlOf('q');
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'at once' }));
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'later', DelaySeconds: 1 }));
    expect(await waiting(client, QueueUrl)).toBe('1');
    expect(await receive(client, QueueUrl)).toHaveLength(1);
    expect(await waiting(client, QueueUrl)).toBe('0');
    await vi.waitFor(async () => expect(await waiting(client, QueueUrl)).toBe('2'), { timeout: 10_000 });
  });
});

it('keeps the group of a message on a standard queue: the engine dropped it, so that no queue was fair', async () => {
  const { sqs, client } = await start();
  sqs.ensureQueue({ name: 'q', attributes: {} });
  const QueueUrl = sqs.urlOf('q');
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one', MessageGroupId: 'acme' }));
  const Entries = [
    { Id: '1', MessageBody: 'two', MessageGroupId: 'beta', DelaySeconds: 0 },
    { Id: '2', MessageBody: 'three' },
  ];
  await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
  const command = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames: ['MessageGroupId'],
    MessageAttributeNames: ['All'],
  });
  const { Messages = [] } = await client.send(command);
  expect(Messages.map(({ Body, Attributes, MessageAttributes }) => [Body, Attributes, MessageAttributes])).toEqual([
    ['one', { MessageGroupId: 'acme' }, undefined],
    ['two', { MessageGroupId: 'beta' }, undefined],
    ['three', undefined, undefined],
  ]);
});

it('hands messages out in the order they came when fair queues are off', async () => {
  const orderOf = async (isFair: boolean) => {
    const sqs = await startSqs({ isFair, onPublish: () => undefined });
    ends.push(() => sqs.stop());
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
    const client = new SQSClient({ region: 'us-east-1', endpoint: sqs.endpoint, credentials });
    sqs.ensureQueue({ name: 'q', attributes: { VisibilityTimeout: '60' } });
    const QueueUrl = sqs.urlOf('q');
    const send = async (MessageGroupId: string) => {
      const Entries = Array.from({ length: 10 }, (_, at) => ({
        Id: String(at),
        MessageBody: MessageGroupId,
        MessageGroupId,
      }));
      await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    };
    for (let round = 0; round < 4; round++) await send('loud');
    for (let round = 0; round < 3; round++) await receive(client, QueueUrl);
    await send('quiet');
    const [first] = await receive(client, QueueUrl);
    client.destroy();
    return first?.Body;
  };
  expect(await orderOf(true)).toBe('quiet');
  expect(await orderOf(false)).toBe('loud');
});

it('on a port in use fails with one line', async () => {
  const { sqs } = await start();
  const port = Number(new URL(sqs.endpoint).port);
  await expect(startSqs({ port, onPublish: () => undefined })).rejects.toThrow(`Port ${port} is in use`);
});
