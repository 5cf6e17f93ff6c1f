import { describe, expect, it } from 'vitest';
import { openQueues } from './open-queues.ts';

describe('faults', () => {
  it('cause the redelivery of a deleted message', () => {
    const faults = { isRedelivered: () => true, isEntryRejected: () => false };
    const { send, receive, perform, bodies } = openQueues({}, faults);
    send('a');
    const Entries = receive().map(({ receipt: ReceiptHandle }) => ({ Id: '1', ReceiptHandle }));
    expect(perform('DeleteMessageBatch', { Entries })).toEqual({ Successful: [{ Id: '1' }] });
    expect(bodies()).toEqual(['a']);
  });

  it('cause the rejection of individual batch entries', () => {
    const rejections = [false, true, true, false, true];
    const isEntryRejected = () => rejections.shift() ?? false;
    const { receive, perform, queue } = openQueues({}, { isRedelivered: () => false, isEntryRejected });
    const rejected = (Id: string) => ({ Failed: [{ Id, Code: 'InternalError', SenderFault: false }] });
    const sent = ['0', '1'].map(Id => ({ Id, MessageBody: Id }));
    expect(perform('SendMessageBatch', { Entries: sent })).toMatchObject({
      Successful: [{ Id: '0' }],
      ...rejected('1'),
    });
    queue.send({ body: 'b' }, 'me');
    const Entries = receive().map(({ receipt: ReceiptHandle }, at) => ({ Id: `${at}`, ReceiptHandle }));
    expect(perform('DeleteMessageBatch', { Entries })).toMatchObject(rejected('0'));
    const hidden = Entries.slice(0, 1).map(entry => ({ ...entry, VisibilityTimeout: 0 }));
    expect(perform('ChangeMessageVisibilityBatch', { Entries: hidden })).toMatchObject(rejected('0'));
    expect(queue.inFlight()).toBe(1);
  });
});

describe('a snapshot', () => {
  it('contains waiting and delayed messages, in-flight messages with their receipt handles, and receive counts', async () => {
    const before = openQueues();
    before.perform('SendMessage', { MessageBody: 'later', DelaySeconds: 50 });
    before.send('in flight', 'acme');
    const [taken] = before.receive();
    before.send('waiting');
    const snapshot = JSON.parse(JSON.stringify(before.queues.snapshot()));

    const { time, queues, queue, perform, bodies, receive } = openQueues();
    queues.restore(snapshot);
    expect([queue.visible(), queue.inFlight(), queue.delayed()]).toEqual([1, 1, 1]);
    expect(bodies()).toEqual(['waiting']);
    perform('ChangeMessageVisibility', { ReceiptHandle: taken?.receipt, VisibilityTimeout: 20 });
    await time.runUntil(20_000);
    const systemAttributes = { ApproximateReceiveCount: '2', MessageGroupId: 'acme' };
    expect(receive()).toMatchObject([{ id: taken?.id, body: 'in flight', systemAttributes }]);
    await time.runUntil(49_999);
    expect(bodies()).toEqual(['waiting']); // the visibility timeout has ended
    await time.runUntil(50_000);
    expect(bodies()).toEqual(['in flight', 'later']);
  });

  it('restores the messages of a missing queue when the queue is created', () => {
    const { queues } = openQueues();
    const other = queues.create({ name: 'other' });
    other.send({ body: 'a' }, 'me');
    const restored = openQueues().queues;
    restored.restore(queues.snapshot());
    expect(restored.snapshot()).toMatchObject({ q: [], dead: [], other: [{ body: 'a' }] });
    expect(restored.create({ name: 'other' }).bodies()).toEqual(['a']);
  });

  it('has a change counter that increases with each change', () => {
    const { queues, send, receive, queue } = openQueues();
    const seen = [queues.changes()];
    send('a');
    seen.push(queues.changes());
    const [{ receipt } = { receipt: '' }] = receive();
    seen.push(queues.changes());
    queue.hide(receipt, 5);
    seen.push(queues.changes());
    queue.remove(receipt);
    seen.push(queues.changes());
    receive();
    expect(queues.changes()).toBe(seen.at(-1));
    queues.destroy('q');
    seen.push(queues.changes());
    expect(new Set(seen).size).toBe(6);
  });
});
