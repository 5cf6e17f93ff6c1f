import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import type { QueueDefinition } from '../../src/sqs/queue.ts';
import { makeQueues } from '../../src/sqs/queues.ts';
import { makeTime } from '../../src/time.ts';

const QueueUrl = 'https://sqs.virtual/000000000000/q';

function open(
  definition: Partial<QueueDefinition> = {},
  faults = { comesAgain: () => false, isEntryRefused: () => false },
) {
  const time = makeTime(0);
  const definitions = [{ name: 'q', ...definition }, { name: 'dead' }];
  const queues = makeQueues(definitions, { time, faults, note: () => {} });
  const execute = (command: unknown) => queues.execute(command, 'me');
  const queue = queues.find('q');
  return {
    time,
    queue,
    dead: queues.find('dead'),
    execute,
    send: (body: string, group?: string) => queue.send({ body, group }, 'me'),
    receive: (most = 10) => queue.receive(most),
    bodies: (most = 10) => queue.receive(most).map(({ body }) => body),
  };
}

describe('a queue', () => {
  it('hands a message over again when its visibility timeout is over; the older receipt removes nothing', async () => {
    const { time, send, receive, execute, queue } = open({ visibilityTimeout: 20 });
    send('a');
    const [first] = receive();
    expect(receive()).toEqual([]);
    await time.runUntil(20_000);
    const [second] = receive();
    expect(second).toMatchObject({
      body: 'a',
      systemAttributes: { ApproximateReceiveCount: '2', ApproximateFirstReceiveTimestamp: '0' },
    });
    execute(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: first?.receipt }));
    expect(queue.inFlight()).toBe(1);
    execute(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: second?.receipt }));
    expect([queue.inFlight(), queue.bodies()]).toEqual([0, []]);
  });

  it('tells from when each message can be received, and loses them all where it is purged', async () => {
    const { time, execute, queue, send, receive, bodies } = open({ visibilityTimeout: 20 });
    send('in flight');
    receive();
    execute(new SendMessageCommand({ QueueUrl, MessageBody: 'later', DelaySeconds: 5 }));
    send('now');
    expect(queue.all().map(({ body, visibleAt }) => [body, visibleAt])).toEqual([
      ['in flight', 20_000],
      ['later', 5_000],
      ['now', 0],
    ]);
    queue.purge();
    await time.runUntil(30_000);
    expect([queue.all(), bodies(), queue.inFlight(), queue.delayed()]).toEqual([[], [], 0, 0]);
  });

  it('delays, hides and shows', async () => {
    const { time, execute, receive, bodies } = open();
    execute(new SendMessageCommand({ QueueUrl, MessageBody: 'later', DelaySeconds: 5 }));
    expect(bodies()).toEqual([]);
    await time.runUntil(5_000);
    const [{ receipt: ReceiptHandle } = { receipt: '' }] = receive();
    const hide = (VisibilityTimeout: number) =>
      execute(
        new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries: [{ Id: '1', ReceiptHandle, VisibilityTimeout }] }),
      );
    expect(hide(60)).toEqual({ Successful: [{ Id: '1' }] });
    await time.runUntil(64_999);
    expect(bodies()).toEqual([]);
    await time.runUntil(65_000);
    expect(hide(0)).toMatchObject({ Failed: [{ Id: '1', Code: 'MessageNotInflight', SenderFault: true }] });
    expect(bodies()).toEqual(['later']);
  });

  it('moves what was received too often to the dead letters', async () => {
    const { time, send, bodies, dead } = open({
      visibilityTimeout: 1,
      deadLetters: { queue: 'dead', maxReceiveCount: 2 },
    });
    const id = send('poison');
    for (const second of [1, 2, 3]) {
      bodies();
      await time.runUntil(second * 1_000);
    }
    expect(dead.receive(10)).toMatchObject([
      { id, body: 'poison', systemAttributes: { ApproximateReceiveCount: '1' } },
    ]);
    expect(bodies()).toEqual([]);
  });

  it('counts messages', () => {
    const { send, execute, bodies } = open();
    for (const body of ['a', 'b', 'c']) send(body);
    execute(new SendMessageCommand({ QueueUrl, MessageBody: 'later', DelaySeconds: 5 }));
    bodies(2);
    expect(execute(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }))).toMatchObject({
      Attributes: {
        ApproximateNumberOfMessages: '1',
        ApproximateNumberOfMessagesNotVisible: '2',
        ApproximateNumberOfMessagesDelayed: '1',
      },
    });
  });

  it('tells the count of what waits as it was a while ago', async () => {
    const { time, send, queue } = open({ countLag: 500 });
    send('a');
    expect(queue.toldVisible()).toBe(0);
    await time.runUntil(500);
    expect(queue.toldVisible()).toBe(1);
  });

  it('gives a message again that it was told to delete, where the fault is a copy', () => {
    const { send, receive, execute, bodies } = open({}, { comesAgain: () => true, isEntryRefused: () => false });
    send('a');
    const Entries = receive().map(({ receipt: ReceiptHandle }) => ({ Id: '1', ReceiptHandle }));
    expect(execute(new DeleteMessageBatchCommand({ QueueUrl, Entries }))).toEqual({ Successful: [{ Id: '1' }] });
    expect(bodies()).toEqual(['a']);
  });

  it('refuses entries of a batch each by itself', () => {
    const refusals = [false, true];
    const { execute } = open({}, { comesAgain: () => false, isEntryRefused: () => refusals.shift() ?? false });
    const Entries = [
      { Id: '1', MessageBody: 'a' },
      { Id: '2', MessageBody: 'b' },
      { Id: '3', MessageBody: 'c', DelaySeconds: 901 },
    ];
    expect(execute(new SendMessageBatchCommand({ QueueUrl, Entries }))).toMatchObject({
      Successful: [{ Id: '1' }],
      Failed: [
        { Id: '2', Code: 'InternalError', SenderFault: false },
        { Id: '3', Code: 'InvalidParameterValue', SenderFault: true },
      ],
    });
  });

  it('refuses entries of batches that delete and hide, each by itself', () => {
    const refusals = [true, false, true];
    const { send, receive, execute, queue } = open(
      {},
      { comesAgain: () => false, isEntryRefused: () => refusals.shift() ?? false },
    );
    for (const body of ['a', 'b']) send(body);
    const Entries = receive().map(({ receipt: ReceiptHandle }, at) => ({ Id: `${at}`, ReceiptHandle }));
    const refused = { Failed: [{ Id: '0', Code: 'InternalError', SenderFault: false }] };
    expect(execute(new DeleteMessageBatchCommand({ QueueUrl, Entries }))).toMatchObject(refused);
    const hidden = Entries.slice(0, 1).map(entry => ({ ...entry, VisibilityTimeout: 0 }));
    expect(execute(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries: hidden }))).toMatchObject(refused);
    expect(queue.inFlight()).toBe(1);
  });

  it.each([
    ['an empty attribute', { MessageBody: 'a', MessageAttributes: { of: { DataType: 'String', StringValue: '' } } }],
    ['a control character', { MessageBody: 'a\u0001' }],
    [
      'over 1 MiB',
      { MessageBody: 'é'.repeat(512 * 1_024), MessageAttributes: { a: { DataType: 'String', StringValue: 'b' } } },
    ],
  ])('refuses %s', (_, sent) => {
    const { execute } = open();
    expect(() => execute(new SendMessageCommand({ QueueUrl, ...sent }))).toThrow(/too long|no such character/);
  });

  it('refuses a batch over 1 MiB', () => {
    const Entries = ['1', '2'].map(Id => ({ Id, MessageBody: 'a'.repeat(600 * 1_024) }));
    expect(() => open().execute(new SendMessageBatchCommand({ QueueUrl, Entries }))).toThrow('A batch has at most');
  });

  it.each([
    [new SendMessageCommand({ QueueUrl: 'nowhere', MessageBody: 'a' }), 'QueueDoesNotExist'],
    [new SendMessageBatchCommand({ QueueUrl, Entries: [] }), 'BatchRequestError'],
    [new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 11 }), 'InvalidParameterValue'],
  ])('refuses %#', (command, name) => {
    expect(() => open().execute(command)).toThrow(expect.objectContaining({ name }));
  });
});

describe('fair order', () => {
  it('hands over what came back first, then the oldest', async () => {
    const { time, send, bodies } = open({ visibilityTimeout: 1 });
    for (const body of ['a', 'b', 'c']) send(body);
    expect(bodies(1)).toEqual(['a']);
    await time.runUntil(1_000);
    expect(bodies()).toEqual(['a', 'b', 'c']);
  });

  it.each([
    [true, 'quiet'],
    [false, 'noisy'],
  ])('fair %s: the next message after thirty in flight of a noisy group is a %s one', (isFair, expected) => {
    const { send, bodies } = open({ isFair });
    for (let number = 0; number < 60; number += 1) send('noisy', 'noisy');
    send('quiet', 'quiet');
    for (let batch = 0; batch < 3; batch += 1) expect(new Set(bodies())).toEqual(new Set(['noisy']));
    expect(bodies(1)).toEqual([expected]);
  });

  it('a group whose messages take most of the time is noisy, too, until it was quiet for a while', async () => {
    const { time, send, receive, queue } = open({ visibilityTimeout: 3_600 });
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
});
