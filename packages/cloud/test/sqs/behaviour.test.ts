import { expect, it } from 'vitest';
import { openQueues } from './open-queues.ts';

/** Tests a statement on a page under https://docs.aws.amazon.com/AWSSimpleQueueService/latest/. */
const fact = (page: string, behaviour: string, check: () => unknown) =>
  it(`${page}: ${behaviour}`, async () => void (await check()));

const guide = (name: string) => `SQSDeveloperGuide/${name}.html`;
const api = (name: string) => `APIReference/API_${name}.html`;
const fairness = guide('sqs-fair-queues');
const messageQuotas = guide('quotas-messages');

const entries = (count: number, entry: object = {}) =>
  Array.from({ length: count }, (_, at) => ({ Id: String(at), MessageBody: 'x', ...entry }));
const text = (StringValue: string) => ({ DataType: 'String', StringValue });
const attributesOf = (count: number) => Object.fromEntries(entries(count).map(({ Id }) => [`a${Id}`, text('x')]));

fact(
  guide('sqs-visibility-timeout'),
  'hides a received message until its visibility timeout expires, after 30 seconds by default',
  async () => {
    const { time, send, receive, bodies } = openQueues();
    send('a');
    expect(receive()).toHaveLength(1);
    await time.runUntil(29_999);
    expect(bodies()).toEqual([]);
    await time.runUntil(30_000);
    expect(bodies()).toEqual(['a']);
  },
);

fact(api('ReceiveMessage'), 'accepts a visibility timeout of 0 to 12 hours in a receive', async () => {
  const { time, send, perform, bodies, errorOf } = openQueues();
  send('a');
  perform('ReceiveMessage', { VisibilityTimeout: 43_200 });
  await time.runUntil(43_199_999);
  expect(bodies()).toEqual([]);
  await time.runUntil(43_200_000);
  expect(bodies()).toEqual(['a']);
  expect(errorOf('ReceiveMessage', { VisibilityTimeout: 43_201 })).toBe('InvalidParameterValue');
});

fact(
  api('ChangeMessageVisibility'),
  'starts the new visibility timeout at the change, and makes the message visible immediately if the timeout is 0',
  async () => {
    const { time, send, receive, perform, bodies } = openQueues();
    send('a');
    const [{ receipt: ReceiptHandle } = { receipt: '' }] = receive();
    await time.runUntil(10_000);
    perform('ChangeMessageVisibility', { ReceiptHandle, VisibilityTimeout: 60 });
    await time.runUntil(69_999);
    expect(bodies()).toEqual([]);
    perform('ChangeMessageVisibility', { ReceiptHandle, VisibilityTimeout: 0 });
    expect(bodies()).toEqual(['a']);
  },
);

fact(api('ChangeMessageVisibility'), 'rejects a change to a message that is not in flight', async () => {
  const { time, send, receive, errorOf, perform } = openQueues();
  send('a');
  const [{ receipt: ReceiptHandle } = { receipt: '' }] = receive();
  await time.runUntil(30_000);
  expect(errorOf('ChangeMessageVisibility', { ReceiptHandle, VisibilityTimeout: 0 })).toBe('MessageNotInflight');
  const Entries = [{ Id: '1', ReceiptHandle, VisibilityTimeout: 0 }];
  const failure = { Id: '1', Code: 'MessageNotInflight', SenderFault: true };
  expect(perform('ChangeMessageVisibilityBatch', { Entries })).toMatchObject({ Failed: [failure] });
});

fact(api('DeleteMessage'), 'does not delete a message with the receipt handle of an earlier receive', async () => {
  const { time, send, receive, perform, queue } = openQueues();
  send('a');
  const [first] = receive();
  await time.runUntil(30_000);
  const [second] = receive();
  expect(perform('DeleteMessage', { ReceiptHandle: first?.receipt })).toEqual({});
  expect(queue.inFlight()).toBe(1);
  perform('DeleteMessage', { ReceiptHandle: second?.receipt });
  expect([queue.inFlight(), queue.bodies()]).toEqual([0, []]);
});

fact(api('ReceiveMessage'), 'returns the receive count, first receive time, sender, sent time and group', async () => {
  const { time, send, receive } = openQueues();
  await time.runUntil(5);
  send('a', 'acme');
  await time.runUntil(10);
  receive();
  await time.runUntil(60_000);
  expect(receive()).toMatchObject([
    {
      systemAttributes: {
        ApproximateReceiveCount: '2',
        ApproximateFirstReceiveTimestamp: '10',
        SenderId: 'me',
        SentTimestamp: '5',
        MessageGroupId: 'acme',
      },
    },
  ]);
});

fact(api('ReceiveMessage'), 'returns the requested attributes, by name or all', () => {
  const { perform } = openQueues();
  const MessageAttributes = { 'a.one': text('1'), b: text('2') };
  const attributesFor = (AttributeNames: string[], MessageAttributeNames: string[]) => {
    perform('SendMessage', { MessageBody: 'x', MessageAttributes });
    const response = perform('ReceiveMessage', { AttributeNames, MessageAttributeNames });
    const [{ Attributes, ...message }] = Object(response).Messages;
    return [Object.keys(Attributes), Object.keys(message.MessageAttributes)];
  };
  expect(attributesFor([], [])).toEqual([[], []]);
  expect(attributesFor(['SenderId'], ['b'])).toEqual([['SenderId'], ['b']]);
  expect(attributesFor(['All'], ['a.one'])).toEqual([expect.arrayContaining(['SenderId', 'SentTimestamp']), ['a.one']]);
  expect(attributesFor([], ['All'])).toEqual([[], ['a.one', 'b']]);
});

fact(api('ReceiveMessage'), 'returns one message by default and at most 10', () => {
  const { perform, errorOf } = openQueues();
  perform('SendMessageBatch', { Entries: entries(10) });
  expect(perform('ReceiveMessage')).toHaveProperty('Messages.length', 1);
  expect(perform('ReceiveMessage', { MaxNumberOfMessages: 10 })).toHaveProperty('Messages.length', 9);
  expect(perform('ReceiveMessage')).toEqual({});
  expect(errorOf('ReceiveMessage', { MaxNumberOfMessages: 11 })).toBe('InvalidParameterValue');
});

fact(
  guide('sqs-short-and-long-polling'),
  'ends a long poll at the first message or after its wait time of at most 20 seconds',
  async () => {
    const { time, send, queues } = openQueues();
    const { signal } = new AbortController();
    const poll = (WaitTimeSeconds: number) => queues.poll({ QueueUrl: 'q', WaitTimeSeconds }, signal);
    const responses: unknown[] = [];
    void poll(20).then(response => responses.push(response));
    time.at(5_000, () => send('a'));
    await time.runUntil(5_000);
    expect(responses).toMatchObject([{ Messages: [{ Body: 'a' }] }]);
    void poll(2).then(response => responses.push(response));
    await time.runUntil(6_999);
    expect(responses).toHaveLength(1);
    await time.runUntil(7_000);
    expect(responses[1]).toEqual({});
    await expect(poll(21)).rejects.toMatchObject({ name: 'InvalidParameterValue' });
  },
);

fact(guide('sqs-delay-queues'), 'hides a new message for its delay of 0 to 15 minutes', async () => {
  const { time, perform, bodies, errorOf } = openQueues();
  perform('SendMessage', { MessageBody: 'later', DelaySeconds: 900 });
  await time.runUntil(899_999);
  expect(bodies()).toEqual([]);
  await time.runUntil(900_000);
  expect(bodies()).toEqual(['later']);
  for (const DelaySeconds of [901, -1, 0.3]) {
    expect(errorOf('SendMessage', { MessageBody: 'x', DelaySeconds })).toBe('InvalidParameterValue');
  }
});

fact(
  guide('sqs-dead-letter-queues'),
  'moves a message to the dead-letter queue after maxReceiveCount receives, and preserves its id, group and sent time',
  async () => {
    const { time, send, bodies, dead } = openQueues({
      visibilityTimeout: 1,
      redrive: { queue: 'arn:aws:sqs:us-east-1:000000000000:dead', maxReceiveCount: 2 },
    });
    const id = send('poison', 'acme');
    for (const second of [1, 2, 3]) {
      expect(bodies()).toEqual(second < 3 ? ['poison'] : []);
      await time.runUntil(second * 1_000);
    }
    const systemAttributes = { SentTimestamp: '0', MessageGroupId: 'acme' };
    expect(dead.receive(10)).toMatchObject([{ id, body: 'poison', systemAttributes }]);
  },
);

fact(fairness, 'delivers the oldest message first if no group is noisy', () => {
  const { send, bodies } = openQueues();
  for (const [body, group] of ['a1', 'a2', 'b1', 'a3'].map(body => [body, body.slice(0, 1)] as const))
    send(body, group);
  expect(bodies()).toEqual(['a1', 'a2', 'b1', 'a3']);
});

fact(fairness, 'delivers quiet groups before a group with many messages in flight', () => {
  const { send, bodies } = openQueues();
  for (let number = 0; number < 60; number += 1) send('noisy', 'noisy');
  bodies();
  bodies();
  send('quiet', 'quiet');
  expect(bodies(9)).toEqual(Array(9).fill('noisy')); // 29 messages in flight are too few
  expect(bodies(2)).toEqual(['noisy', 'quiet']);
});

fact(fairness, 'delivers quiet groups before a group with a long processing time', async () => {
  const { time, send, receive, queue } = openQueues({ visibilityTimeout: 3_600 });
  for (const body of ['slow', 'slow', 'slow']) send(body, 'slow');
  send('other', 'other');
  const [slow] = receive(1);
  await time.runUntil(10_000);
  const [other] = receive(1);
  expect([slow?.body, other?.body]).toEqual(['slow', 'other']);
  queue.remove(slow?.receipt ?? '');
  await time.runUntil(3_600_000);
  send('other', 'other');
  expect(receive(1)).toMatchObject([{ body: 'slow' }]);
});

fact(fairness, 'delivers the noisy group with the fewest messages in flight first', () => {
  const { send, bodies } = openQueues();
  for (let number = 0; number < 40; number += 1) send('louder', 'louder');
  for (let batch = 0; batch < 4; batch += 1) bodies();
  for (let number = 0; number < 30; number += 1) send('loud', 'loud');
  for (let batch = 0; batch < 3; batch += 1) bodies();
  for (const group of ['louder', 'loud', 'quiet']) send(group, group);
  expect(bodies()).toEqual(['quiet', 'loud', 'louder']);
});

fact(fairness, 'does not limit a noisy group if no other messages wait', () => {
  const { send, bodies } = openQueues();
  for (let number = 0; number < 50; number += 1) send('loud', 'loud');
  for (let batch = 0; batch < 5; batch += 1) expect(bodies()).toHaveLength(10);
});

fact(api('SendMessageBatch'), 'accepts 1 to 10 entries with different ids and at most 1 MiB in a batch', () => {
  const { errorOf } = openQueues();
  expect(errorOf('SendMessageBatch', { Entries: [] })).toBe('EmptyBatchRequest');
  expect(errorOf('SendMessageBatch', { Entries: entries(11) })).toBe('TooManyEntriesInBatchRequest');
  expect(errorOf('SendMessageBatch', { Entries: entries(2, { Id: 'same' }) })).toBe('BatchEntryIdsNotDistinct');
  const large = entries(2, { MessageBody: 'a'.repeat(600 * 1_024) });
  expect(errorOf('SendMessageBatch', { Entries: large })).toBe('BatchRequestTooLong');
});

fact(api('SendMessageBatch'), 'accepts or rejects each entry independently', () => {
  const { perform, bodies } = openQueues();
  const Entries = [
    { Id: '1', MessageBody: 'a' },
    { Id: '2', MessageBody: 'b', DelaySeconds: 901 },
  ];
  expect(perform('SendMessageBatch', { Entries })).toMatchObject({
    Successful: [{ Id: '1', MessageId: 'id-1' }],
    Failed: [{ Id: '2', Code: 'InvalidParameterValue', SenderFault: true }],
  });
  expect(bodies()).toEqual(['a']);
});

fact(messageQuotas, "limits a message with its attributes to 1 MiB or the queue's maximum", () => {
  const { errorOf } = openQueues();
  const half = 'é'.repeat(512 * 1_024);
  expect(errorOf('SendMessage', { MessageBody: half })).toBeUndefined();
  const MessageAttributes = { a: text('b') };
  expect(errorOf('SendMessage', { MessageBody: half, MessageAttributes })).toBe('InvalidParameterValue');
  expect(openQueues({ maxMessageSize: 2 }).errorOf('SendMessage', { MessageBody: 'abc' })).toBe(
    'InvalidParameterValue',
  );
});

fact(messageQuotas, 'rejects an empty body, and characters that are invalid in XML', () => {
  const { errorOf } = openQueues();
  expect(errorOf('SendMessage', { MessageBody: 'a\u{1f600}\t\n\rb' })).toBeUndefined();
  for (const MessageBody of ['a\u0001', 'a\ufffe', '\ud800']) {
    expect(errorOf('SendMessage', { MessageBody })).toBe('InvalidMessageContents');
  }
  expect(errorOf('SendMessage', { MessageBody: '' })).toBe('MissingParameter');
});

fact(guide('sqs-message-metadata'), 'accepts at most 10 attributes, and requires a type and a value', () => {
  const { errorOf } = openQueues();
  const send = (MessageAttributes: object) => errorOf('SendMessage', { MessageBody: 'x', MessageAttributes });
  expect(send(attributesOf(10))).toBeUndefined();
  const wrong = [attributesOf(11), { a: text('') }, { a: { StringValue: 'x' } }, { a: text('\u0001') }];
  for (const attributes of wrong) expect(send(attributes)).toBe('InvalidParameterValue');
});

fact(api('SendMessage'), 'accepts groups of up to 128 letters, digits and punctuation characters', () => {
  const { errorOf } = openQueues();
  const send = (MessageGroupId: string) => errorOf('SendMessage', { MessageBody: 'x', MessageGroupId });
  expect(send(`a-Z_9.${'x'.repeat(122)}`)).toBeUndefined();
  for (const group of ['', 'two words', 'ação', 'x'.repeat(129)]) expect(send(group)).toBe('InvalidParameterValue');
});

fact(guide('sqs-message-metadata'), 'returns the MD5 of the body and of the attributes', () => {
  const { perform } = openQueues();
  const MessageAttributes = { reason: text('x') };
  const [MD5OfMessageBody, MD5OfMessageAttributes] = [
    '900150983cd24fb0d6963f7d28e17f72',
    '5fc8ee6f14e643183ef2ee0661e9c903',
  ];
  const sent = perform('SendMessage', { MessageBody: 'abc', MessageAttributes });
  expect(sent).toMatchObject({ MD5OfMessageBody, MD5OfMessageAttributes });
  expect(perform('ReceiveMessage', { MessageAttributeNames: ['All'] })).toMatchObject({
    Messages: [{ MD5OfBody: MD5OfMessageBody, MD5OfMessageAttributes, MessageAttributes }],
  });
});

fact(api('GetQueueAttributes'), 'returns the ARN and the counts of messages by state', () => {
  const { send, perform, bodies } = openQueues();
  for (const body of ['a', 'b', 'c']) send(body);
  perform('SendMessage', { MessageBody: 'later', DelaySeconds: 5 });
  bodies(2);
  expect(perform('GetQueueAttributes', { AttributeNames: ['All'] })).toEqual({
    Attributes: {
      ApproximateNumberOfMessages: '1',
      ApproximateNumberOfMessagesNotVisible: '2',
      ApproximateNumberOfMessagesDelayed: '1',
      VisibilityTimeout: '30',
      QueueArn: 'arn:aws:sqs:us-east-1:000000000000:q',
    },
  });
  const Attributes = { VisibilityTimeout: '30' };
  expect(perform('GetQueueAttributes', { AttributeNames: ['VisibilityTimeout'] })).toEqual({ Attributes });
});

fact(api('GetQueueUrl'), 'rejects a missing queue', () => {
  expect(openQueues().errorOf('SendMessage', { QueueUrl: 'other', MessageBody: 'x' })).toBe('QueueDoesNotExist');
});

/** Tests a difference from AWS that `differences.md` lists. */
const differs = (difference: string, check: () => unknown) =>
  it(`differs: ${difference}`, async () => void (await check()));

differs('ignores a deletion with an expired or unknown receipt handle', async () => {
  const { time, send, receive, queue, perform } = openQueues();
  send('a');
  const [received] = receive();
  await time.runUntil(30_000);
  for (const ReceiptHandle of [received?.receipt, 'unknown'])
    expect(perform('DeleteMessage', { ReceiptHandle })).toEqual({});
  expect(queue.bodies()).toEqual(['a']);
});

differs('restarts the receive count of a dead-letter message at 1', async () => {
  const { time, send, receive, dead } = openQueues({ redrive: { queue: 'dead', maxReceiveCount: 1 } });
  send('poison');
  receive();
  await time.runUntil(30_000);
  receive();
  expect(dead.receive(1)).toMatchObject([{ systemAttributes: { ApproximateReceiveCount: '1' } }]);
});

differs('rejects a binary message attribute', () => {
  const MessageAttributes = { a: { DataType: 'Binary', BinaryValue: new Uint8Array([1]) } };
  expect(openQueues().errorOf('SendMessage', { MessageBody: 'x', MessageAttributes })).toBe('InvalidParameterValue');
});

differs('returns immediately from a long poll in virtual time', () => {
  expect(openQueues().perform('ReceiveMessage', { WaitTimeSeconds: 20 })).toEqual({});
});
