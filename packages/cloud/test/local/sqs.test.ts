import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { queueOf, startSqs } from '../../src/local/sqs.ts';
import type { QueueDefinition } from '../../src/sqs/queue.ts';
import { liveResource } from './live-resource.ts';
import { destroyAfterTest, settingsOf } from './sdk-client.ts';

/** Starts SQS with a queue and a client. */
async function start(definition: Partial<QueueDefinition> = {}, options: Parameters<typeof startSqs>[0] = {}) {
  const sqs = await startSqs(options);
  onTestFinished(sqs.stop);
  sqs.ensureQueue({ name: 'q', ...definition });
  const client = destroyAfterTest(new SQSClient(settingsOf(sqs.endpoint)));
  const QueueUrl = sqs.urlOf('q');
  const receive = async (WaitTimeSeconds = 0, url = QueueUrl): Promise<readonly Message[]> => {
    const all = ['All' as const];
    const request = { MaxNumberOfMessages: 10, MessageSystemAttributeNames: all, MessageAttributeNames: all };
    const response = await client.send(new ReceiveMessageCommand({ QueueUrl: url, WaitTimeSeconds, ...request }));
    return response.Messages ?? [];
  };
  const send = (MessageBody: string) => client.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  return { sqs, client, QueueUrl, send, receive };
}

it('accepts messages with groups, senders and attributes, individually or in a batch', async () => {
  const { sqs, client, QueueUrl, receive } = await start();
  const other = destroyAfterTest(new SQSClient(settingsOf(sqs.endpoint, 'AIDACRM')));
  const MessageAttributes = { reason: { DataType: 'String', StringValue: 'x' } };
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one', MessageGroupId: 'acme' }));
  const Entries = [
    { Id: '1', MessageBody: 'two', MessageGroupId: 'beta' },
    { Id: '2', MessageBody: 'three', MessageAttributes },
  ];
  expect(await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }))).toMatchObject({
    Successful: [{ Id: '1' }, { Id: '2' }],
  });
  await other.send(new SendMessageCommand({ QueueUrl, MessageBody: 'four' }));
  const received = await receive();
  expect(
    received.map(({ Body, Attributes, MessageAttributes: attributes = {} }) => {
      return [Body, Attributes?.MessageGroupId, Attributes?.SenderId, attributes.reason?.StringValue];
    }),
  ).toEqual([
    ['one', 'acme', 'a', undefined],
    ['two', 'beta', 'a', undefined],
    ['three', undefined, 'a', 'x'],
    ['four', undefined, 'AIDACRM', undefined],
  ]);
});

it("waits for the request's or the queue's wait time in a long poll, and delivers no message to a cancelled poll", async () => {
  const { client, QueueUrl, send, receive } = await start({ receiveWait: 20 });
  const abort = new AbortController();
  const poll = client.send(new ReceiveMessageCommand({ QueueUrl }), { abortSignal: abort.signal });
  const attributes = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
  await client.send(attributes); // the poll has reached the queue
  abort.abort();
  await expect(poll).rejects.toMatchObject({ name: 'AbortError' });
  const next = receive(20);
  await client.send(attributes);
  await send('a');
  expect(await next).toMatchObject([{ Body: 'a' }]);
});

describe('the SQS emulator', () => {
  const post = (url: string, target: string, body: string) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-amz-json-1.0', ...(target && { 'x-amz-target': target }) },
      body,
    });

  it('accepts requests at / and at the path of a queue, which older SDKs use', async () => {
    const { sqs, QueueUrl, receive } = await start();
    for (const url of [`${sqs.endpoint}/`, QueueUrl]) {
      const response = await post(url, 'AmazonSQS.SendMessage', JSON.stringify({ QueueUrl, MessageBody: url }));
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-amz-json-1.0']);
      expect(await response.json()).toMatchObject({ MessageId: expect.any(String) });
    }
    expect((await receive()).map(({ Body }) => Body)).toEqual([`${sqs.endpoint}/`, QueueUrl]);
  });

  it('rejects the Query protocol with 400 and lists the SDK versions that use JSON', async () => {
    const { sqs, QueueUrl, receive } = await start();
    for (const url of [sqs.endpoint, QueueUrl]) {
      const response = await post(url, '', 'Action=SendMessage&MessageBody=x&Version=2012-11-05');
      expect([response.status, response.headers.get('content-type')]).toEqual([400, 'text/xml']);
      expect(await response.text()).toMatch(
        /^<ErrorResponse><Error><Type>Sender<\/Type><Code>InvalidAction<\/Code><Message>The local sqs supports only the AWS JSON protocol\. Use .* 2\.21\.19 .* Java, 3\.447\.0 for JavaScript, 1\.34\.90 for Python/,
      );
    }
    expect(await receive()).toEqual([]);
  });

  it.each([
    ['AmazonSQS.SendMessage', '{', 'SerializationException'],
    ['AmazonSQS.SendMessage', '{"QueueUrl":"other","MessageBody":"x"}', 'QueueDoesNotExist'],
    ['AmazonSQS.SendMessage', '{"QueueUrl":"q","MessageBody":"x","DelaySeconds":901}', 'InvalidParameterValue'],
    ['AmazonSQS.CreateQueue', '{"QueueName":"x","Attributes":{"FifoQueue":"true"}}', 'InvalidParameterValue'],
    ['AmazonSQS.StartMessageMoveTask', '{}', 'UnknownOperationException'],
  ])('rejects %s %s', async (target, body, code) => {
    const { sqs } = await start();
    const response = await post(sqs.endpoint, target, body);
    expect([response.status, await response.json()]).toMatchObject([400, { __type: code }]);
  });
});

it('creates, finds and deletes queues', async () => {
  const { sqs, client, receive } = await start();
  const Attributes = { VisibilityTimeout: '7', Policy: '{}' };
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'mine', Attributes }));
  expect(QueueUrl).toBe(sqs.urlOf('mine'));
  expect(await client.send(new GetQueueUrlCommand({ QueueName: 'mine' }))).toMatchObject({ QueueUrl });
  const request = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['VisibilityTimeout'] });
  expect(await client.send(request)).toMatchObject({ Attributes: { VisibilityTimeout: '7' } });
  await client.send(new DeleteQueueCommand({ QueueUrl }));
  await expect(receive(0, QueueUrl)).rejects.toMatchObject({ name: 'QueueDoesNotExist' });
});

describe('queueOf', () => {
  const read = (properties: object) => queueOf(liveResource('AWS::SQS::Queue', properties, 'Events'));

  it('parses the properties that the CDK generates', () => {
    const properties = {
      VisibilityTimeout: 180,
      MessageRetentionPeriod: 1_209_600,
      MaximumMessageSize: 1_040_384,
      ReceiveMessageWaitTimeSeconds: 20,
      SqsManagedSseEnabled: true,
      RedrivePolicy: { deadLetterTargetArn: 'arn', maxReceiveCount: 100 },
    };
    expect(read(properties)).toEqual({
      name: 'App-Events',
      visibilityTimeout: 180,
      maxMessageSize: 1_040_384,
      receiveWait: 20,
      redrive: { queue: 'arn', maxReceiveCount: 100 },
    });
  });

  it.each([{ FifoQueue: true }, { DelaySeconds: 5 }])('rejects a queue with %j', properties => {
    expect(() => read(properties)).toThrow('not supported locally');
  });
});
