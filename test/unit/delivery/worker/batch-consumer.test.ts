import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { makeConsumer, type ProcessRecord } from '../../../../lambdas/delivery/worker/batch-consumer.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { fakeTelemetry } from '../builders.ts';

const recordOf = (messageId: string, receiveCount = 1) =>
  ({
    messageId,
    receiptHandle: `handle-${messageId}`,
    body: messageId,
    attributes: { ApproximateReceiveCount: String(receiveCount) },
  }) as SQSRecord;

interface Circumstances {
  /** Milliseconds that the invocation has left; a function is asked each time. */
  readonly remaining?: number | (() => number);
  readonly sqsFails?: boolean;
  /** The messages in the queue besides the batch: each element is what one call receives. */
  readonly queued?: Message[][];
  /** By how much each pause takes longer than it should, in milliseconds. */
  readonly lateness?: () => number;
  /** Whether so many further messages would be admitted. @default always */
  readonly hasRoomFor?: (more: number) => boolean;
  /** The number that is drawn. @default 0.5 */
  readonly random?: number;
}

const always = () => true;

/** A consumer that never sleeps: a pause ends when the test says so, or at once where `pausesEnd`. */
const consumerOf = (
  process: ProcessRecord,
  {
    remaining = 45_000,
    sqsFails,
    queued = [],
    lateness = () => 0,
    hasRoomFor = always,
    random = 0.5,
  }: Circumstances = {},
) => {
  const changes: object[] = [];
  /** Receipts, call by call. */
  const deleted: string[][] = [];
  const pauses: number[] = [];
  const hiddenFor: (number | undefined)[] = [];
  const send = async (command: { input: object }) => {
    if (command instanceof ReceiveMessageCommand) hiddenFor.push(command.input.VisibilityTimeout);
    if (sqsFails) throw new Error('no queue: canary-7f3a');
    if (command instanceof ReceiveMessageCommand) return { Messages: queued.shift() };
    if (command instanceof DeleteMessageBatchCommand) {
      deleted.push((command.input.Entries ?? []).map(({ ReceiptHandle = '' }) => ReceiptHandle));
    } else changes.push(command.input);
    return {};
  };
  const telemetry = fakeTelemetry();
  let moment = 0;
  const consume = makeConsumer({
    ...telemetry,
    ...systemTime,
    process,
    sqs: { send } as unknown as Pick<SQSClient, 'send'>,
    queueUrl: 'http://queue',
    describe: () => ({}),
    attemptTimeoutMs: 15_000,
    maxInFlight: 100,
    hasRoomFor,
    elapsed: () => moment,
    pause: async milliseconds => {
      const begun = moment;
      pauses.push(milliseconds);
      await systemTime.turn();
      moment = Math.max(moment, begun + milliseconds + lateness());
    },
    random: () => random,
  });
  const context = { getRemainingTimeInMillis: () => (typeof remaining === 'number' ? remaining : remaining()) };
  return {
    consume: (...records: SQSRecord[]) => consume({ Records: records }, context as Context),
    changes,
    deleted,
    pauses,
    receives: () => hiddenFor.length,
    hiddenFor,
    telemetry,
  };
};

/** A process whose attempts last until the test ends them. */
const holding = () => {
  const inFlight = new Map<string, () => void>();
  let most = 0;
  const process: ProcessRecord = ({ messageId }, onAttempt) =>
    new Promise(resolve => {
      const onEnd = onAttempt?.();
      inFlight.set(messageId, () => {
        inFlight.delete(messageId);
        onEnd?.();
        resolve('processed');
      });
      most = Math.max(most, inFlight.size);
    });
  const end = (messageId: string) => inFlight.get(messageId)?.();
  const endAll = () => {
    for (const id of [...inFlight.keys()]) end(id);
  };
  return { process, inFlight, end, endAll, most: () => most };
};

const messageOf = (id: string): Message => ({
  MessageId: id,
  ReceiptHandle: `handle-${id}`,
  Body: id,
  Attributes: { ApproximateReceiveCount: '2', SentTimestamp: '1' },
  MessageAttributes: {
    original_message_id: { DataType: 'String', StringValue: 'first' },
    blob: { DataType: 'Binary', BinaryValue: new Uint8Array([1]) },
  },
});

const messagesOf = (count: number, name = 'r') => Array.from({ length: count }, (_, at) => messageOf(`${name}${at}`));

/** Lets the consumer go through some of its rounds. */
const rounds = async (count = 10) => {
  for (let round = 0; round < count; round++) await new Promise(setImmediate);
};

const failing = (...messageIds: string[]): ProcessRecord => {
  return async ({ messageId }) => {
    if (messageIds.includes(messageId)) throw new Error('the store is down: canary-7f3a');
    return 'processed';
  };
};

describe('the consumer of a queue', () => {
  it('acknowledges what was processed and reports the rest, each on its own', async () => {
    const { consume } = consumerOf(failing('b'));
    expect(await consume(recordOf('a'), recordOf('b'), recordOf('c'))).toEqual({
      batchItemFailures: [{ itemIdentifier: 'b' }],
    });
    const again = consumerOf(failing());
    expect(await again.consume(recordOf('a'))).toEqual({ batchItemFailures: [] });
  });

  it('does not throw when everything failed: Lambda would slow the queue down', async () => {
    const { consume } = consumerOf(failing('a', 'b'));
    expect((await consume(recordOf('a'), recordOf('b'))).batchItemFailures).toHaveLength(2);
  });

  it('processes all messages of a batch at once', async () => {
    let started = 0;
    let openGate = () => {};
    const gate = new Promise<void>(resolve => {
      openGate = resolve;
    });
    const { consume } = consumerOf(async () => {
      if (++started === 10) openGate();
      await gate;
      return 'processed';
    });
    const records = Array.from({ length: 10 }, (_, index) => recordOf(`m${index}`));
    expect(await consume(...records)).toEqual({ batchItemFailures: [] });
  });

  it('makes what failed wait longer each time, up to 15 min', async () => {
    const { consume, changes } = consumerOf(failing('a', 'b'));
    await consume(recordOf('a', 1), recordOf('b', 4));
    expect(changes).toEqual([
      { QueueUrl: 'http://queue', ReceiptHandle: 'handle-a', VisibilityTimeout: 5 },
      { QueueUrl: 'http://queue', ReceiptHandle: 'handle-b', VisibilityTimeout: 40 },
    ]);
  });

  it('still reports what failed when the wait cannot be changed', async () => {
    const { consume } = consumerOf(failing('a'), { sqsFails: true });
    expect((await consume(recordOf('a'))).batchItemFailures).toEqual([{ itemIdentifier: 'a' }]);
  });

  it('does not begin an attempt that the function has no time to finish', async () => {
    const processed: string[] = [];
    const process: ProcessRecord = async ({ messageId }) => {
      processed.push(messageId);
      return 'processed';
    };
    const { consume } = consumerOf(process, { remaining: 20_000 });
    expect((await consume(recordOf('a'))).batchItemFailures).toHaveLength(1);
    expect(processed).toEqual([]);
  });

  it('logs the fault’s name, not its message', async () => {
    const { consume, telemetry } = consumerOf(failing('a'));
    await consume(recordOf('a'));
    expect(telemetry.lines.join()).toContain('"errorName":"Error"');
    expect(telemetry.lines.join()).not.toContain('canary-7f3a');
    expect(telemetry.counts).toEqual({ MessageDeferred: 1 });
  });
});

describe('a message that is shed', () => {
  const shedding =
    (isShed: (messageId: string) => boolean, otherwise: ProcessRecord): ProcessRecord =>
    async (record, onAttempt) =>
      isShed(record.messageId) ? 'shed' : otherwise(record, onAttempt);

  it('is hidden for a moment, reported to Lambda as not done, and no fault', async () => {
    const { consume, changes, telemetry } = consumerOf(async () => 'shed');
    expect(await consume(recordOf('a', 4))).toEqual({ batchItemFailures: [{ itemIdentifier: 'a' }] });
    expect(changes).toEqual([
      { QueueUrl: 'http://queue', Entries: [{ Id: '0', ReceiptHandle: 'handle-a', VisibilityTimeout: 2 }] },
    ]);
    expect(telemetry.counts).toEqual({ MessageShed: 1 });
    expect(telemetry.lines).toEqual([]);
  });

  it('does not keep the process from receiving others', async () => {
    const held = holding();
    const { consume, deleted, changes } = consumerOf(
      shedding(id => id.startsWith('hog'), held.process),
      {
        queued: [messagesOf(10, 'hog'), messagesOf(2)],
      },
    );
    const answer = consume(recordOf('a'), recordOf('hog-given'));
    await rounds();
    expect([...held.inFlight.keys()]).toEqual(['a', 'r0', 'r1']);
    expect(changes.flatMap(change => ('Entries' in change ? change.Entries : []))).toHaveLength(11);
    held.endAll();
    expect(await answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'hog-given' }] });
    expect(deleted.flat()).toEqual(['handle-r0', 'handle-r1']);
  });
});

describe('a message that is hidden until its slot', () => {
  it('is reported to Lambda as not done, and is no fault', async () => {
    const { consume, changes, telemetry } = consumerOf(async () => ({ hiddenFor: 12_345 }));
    expect(await consume(recordOf('a', 4))).toEqual({ batchItemFailures: [{ itemIdentifier: 'a' }] });
    const Entries = [{ Id: '0', ReceiptHandle: 'handle-a', VisibilityTimeout: 13 }];
    expect(changes).toEqual([{ QueueUrl: 'http://queue', Entries }]);
    expect(telemetry.counts).toEqual({});
    expect(telemetry.lines).toEqual([]);
  });
});

describe('a consumer that waits for receivers', () => {
  it('receives further messages meanwhile, and deletes each once it is processed', async () => {
    const held = holding();
    const { consume, deleted } = consumerOf(held.process, { queued: [messagesOf(2)] });
    const answer = consume(recordOf('a'), recordOf('b'));
    await rounds();
    expect([...held.inFlight.keys()]).toEqual(['a', 'b', 'r0', 'r1']);
    held.end('r1');
    held.end('a');
    await rounds();
    expect(deleted).toEqual([['handle-r1']]); // what Lambda gave, Lambda deletes
    held.endAll();
    expect(await answer).toEqual({ batchItemFailures: [] });
    expect(deleted).toEqual([['handle-r1'], ['handle-r0']]);
  });

  // A killed process kept what it had received from everybody for four and a half minutes.
  it('hides them for as long as an attempt may take, and what is around it', async () => {
    const { process, inFlight } = holding();
    const { consume, hiddenFor } = consumerOf(process, { queued: [messagesOf(1)] });
    const consumed = consume(recordOf('a'));
    await rounds();
    expect(hiddenFor[0]).toBe(25);
    for (const end of inFlight.values()) end();
    await consumed;
  });

  it('hands them over as Lambda does', async () => {
    const seen: SQSRecord[] = [];
    const held = holding();
    const process: ProcessRecord = record => {
      seen.push(record);
      return held.process(record);
    };
    const { consume } = consumerOf(process, { queued: [messagesOf(1)] });
    const answer = consume(recordOf('a'));
    await rounds();
    held.endAll();
    await answer;
    expect(seen[1]).toMatchObject({
      messageId: 'r0',
      body: 'r0',
      attributes: { ApproximateReceiveCount: '2', SentTimestamp: '1' },
      messageAttributes: { original_message_id: { dataType: 'String', stringValue: 'first' } },
    });
  });

  it('defers what it received and could not process, and reports what it was given', async () => {
    const held = holding();
    const broken = failing('r0');
    const process: ProcessRecord = async (record, onAttempt) => {
      await broken(record);
      await held.process(record, onAttempt);
      if (record.messageId === 'a') throw new Error('the store is down');
      return 'processed';
    };
    const { consume, changes, deleted } = consumerOf(process, { queued: [messagesOf(2)] });
    const answer = consume(recordOf('a'), recordOf('b'));
    await rounds();
    held.endAll();
    expect(await answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'a' }] });
    expect(changes).toMatchObject([
      { ReceiptHandle: 'handle-r0', VisibilityTimeout: 10 },
      { ReceiptHandle: 'handle-a', VisibilityTimeout: 5 },
    ]);
    expect(deleted).toEqual([['handle-r1']]);
  });

  it('reports all that failed of its batch, early and late ones', async () => {
    const held = holding();
    const process: ProcessRecord = async record => {
      if (record.messageId !== 'early') await held.process(record);
      throw new Error('the store is down');
    };
    const { consume } = consumerOf(process, { queued: [messagesOf(1)] });
    const answer = consume(recordOf('early'), recordOf('late'));
    await rounds();
    held.endAll();
    expect((await answer).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(['early', 'late']);
  });

  it('receives nothing where the batch is over before the first pause is', async () => {
    const { consume, receives, pauses } = consumerOf(async () => 'processed', { queued: [messagesOf(10)] });
    await consume(recordOf('a'), recordOf('b'));
    expect(receives()).toBe(0);
    expect(pauses).toEqual([100]);
  });

  it('has no more than 100 messages in hand, and receives again when there is room', async () => {
    const held = holding();
    const queued = Array.from({ length: 10 }, (_, at) => messagesOf(10, `m${at}-`));
    const { consume } = consumerOf(held.process, { queued });
    const answer = consume(...Array.from({ length: 10 }, (_, at) => recordOf(`given${at}`)));
    await rounds(100);
    expect(held.inFlight.size).toBe(100);
    held.end('given0');
    await rounds();
    expect(held.inFlight.size).toBe(99); // a call might give ten
    for (let at = 1; at < 10; at++) held.end(`given${at}`);
    await rounds();
    expect(held.inFlight.size).toBe(100);
    held.endAll();
    expect(await answer).toEqual({ batchItemFailures: [] });
    expect(held.most()).toBe(100);
    expect(queued).toEqual([]);
  });

  it('receives nothing any more when a whole attempt does not fit into its time', async () => {
    let remaining = 30_000; // 25 s for an attempt, and half of the ten that are drawn
    const held = holding();
    const { consume, receives } = consumerOf(held.process, {
      remaining: () => remaining,
      queued: [messagesOf(1, 'first'), messagesOf(1, 'second')],
    });
    const answer = consume(recordOf('a'));
    await rounds(3);
    const before = receives();
    expect(before).toBeGreaterThan(0);
    remaining = 29_999;
    await rounds();
    expect(receives()).toBeLessThanOrEqual(before + 1);
    const then = receives();
    await rounds();
    expect(receives()).toBe(then);
    held.endAll();
    await answer;
  });

  // Processes that a burst had begun together stopped together too, and then nobody received.
  it('stops receiving at another moment than a process that began with it', async () => {
    const received = async (random: number) => {
      const held = holding();
      const { consume, receives } = consumerOf(held.process, { remaining: 30_000, random });
      const answer = consume(recordOf('a'));
      await rounds(3);
      held.endAll();
      await answer;
      return receives() > 0;
    };
    expect(await received(0.49)).toBe(true);
    expect(await received(0.51)).toBe(false);
  });

  // Before the first look at the queue a tenth of a second went by, in which a burst stood still.
  it('looks at its queue at once where its batch was full', async () => {
    const held = holding();
    const { consume, pauses } = consumerOf(held.process);
    const answer = consume(...Array.from({ length: 10 }, (_, at) => recordOf(`given${at}`)));
    await rounds(4);
    held.endAll();
    await answer;
    expect(pauses.slice(0, 3)).toEqual([1, 100, 200]);
  });

  it('looks again soon where it has no room', async () => {
    const held = holding();
    const { consume, pauses } = consumerOf(held.process, { lateness: () => 51 });
    const answer = consume(recordOf('a'));
    await rounds(4);
    held.endAll();
    await answer;
    expect(pauses.slice(0, 3)).toEqual([250, 10, 10]);
  });

  it('asks again soon after it received something, and ever more rarely while there is nothing: up to a second', async () => {
    const held = holding();
    const { consume, pauses } = consumerOf(held.process, { queued: [[], [], [], [], [], messagesOf(1), []] });
    const answer = consume(recordOf('a'), recordOf('b'));
    await rounds(20);
    held.endAll();
    await answer;
    expect(pauses.slice(0, 9)).toEqual([100, 200, 400, 800, 1_000, 1_000, 1, 100, 200]);
  });

  // Each quiet event cost a call that received nothing.
  it('asks for nothing in vain where it was given one message and the receiver answers within a quarter of a second', async () => {
    const held = holding();
    const { consume, pauses } = consumerOf(held.process);
    const answer = consume(recordOf('a'));
    await rounds(4);
    held.endAll();
    await answer;
    expect(pauses.slice(0, 3)).toEqual([250, 500, 1_000]);
  });

  // On a busy machine it took on more attempts than it could keep up with, and healthy receivers seemed to time out.
  it('receives nothing while its own timers are late', async () => {
    let lateness = 51;
    const held = holding();
    const { consume, receives } = consumerOf(held.process, { queued: [messagesOf(10)], lateness: () => lateness });
    const answer = consume(recordOf('a'));
    await rounds();
    expect(receives()).toBe(0);
    lateness = 50;
    await rounds();
    expect(held.inFlight.size).toBe(11);
    held.endAll();
    await answer;
  });

  // Thirty processes with a hundred messages each made the store of a local run time out, and all of them were deferred.
  it('receives nothing while thirty messages wait for us and not for their receivers', async () => {
    const held = holding();
    const { consume, receives } = consumerOf(record => held.process(record), {
      queued: [messagesOf(10, 'one'), messagesOf(10, 'two'), messagesOf(10, 'three')],
    });
    const answer = consume(...Array.from({ length: 10 }, (_, at) => recordOf(`given${at}`)));
    await rounds(20);
    expect(receives()).toBe(2);
    held.end('given0');
    await rounds();
    expect(receives()).toBe(3);
    held.endAll();
    await answer;
  });

  // Of 10,320 events of one healthy webhook it received 6,601 for nothing.
  it('receives nothing where ten more would not be admitted, and looks again soon', async () => {
    const asked: number[] = [];
    const held = holding();
    const { consume, receives, pauses } = consumerOf(held.process, {
      queued: [messagesOf(10)],
      hasRoomFor: more => asked.push(more) !== 2,
    });
    const answer = consume(recordOf('a'), recordOf('b'));
    await rounds(6);
    expect(asked.slice(0, 3)).toEqual([10, 10, 10]);
    expect(pauses.slice(0, 4)).toEqual([100, 1, 10, 100]);
    expect(receives()).toBeGreaterThan(1);
    held.endAll();
    await answer;
  });

  it('receives nothing more once a message could not be processed: that is ours', async () => {
    const held = holding();
    const process: ProcessRecord = async (record, onAttempt) => {
      if (record.messageId === 'bad') throw new Error('the store is down');
      return held.process(record, onAttempt);
    };
    const { consume, receives } = consumerOf(process, { queued: [messagesOf(10)] });
    const answer = consume(recordOf('a'), recordOf('bad'));
    await rounds();
    expect(receives()).toBe(0);
    held.endAll();
    await answer;
  });

  it('is not harmed by a queue that cannot be read: it asks again, and reports its batch', async () => {
    const held = holding();
    const { consume, receives, telemetry } = consumerOf(held.process, { sqsFails: true });
    const answer = consume(recordOf('a'));
    await rounds();
    expect(receives()).toBeGreaterThan(1);
    held.endAll();
    expect(await answer).toEqual({ batchItemFailures: [] });
    expect(telemetry.lines.join()).toContain('message.not_received');
    expect(telemetry.lines.join()).not.toContain('canary-7f3a');
  });

  it('deletes what was processed meanwhile in one call, ten at a time', async () => {
    const held = holding();
    const { consume, deleted } = consumerOf(held.process, { queued: [messagesOf(10), messagesOf(10, 's')] });
    const answer = consume(recordOf('a'));
    await rounds();
    for (const id of [...held.inFlight.keys()].filter(id => id !== 'a').slice(0, 13)) held.end(id);
    await rounds();
    expect(deleted.map(call => call.length)).toEqual([10, 3]);
    held.endAll();
    await answer;
    expect(deleted.map(call => call.length)).toEqual([10, 3, 7]);
  });

  it.each([
    ['none of its call', () => Promise.reject(new Error('no queue'))],
    ['it alone', async () => ({ Failed: [{ Id: '0', Code: 'ReceiptHandleIsInvalid' }] })],
  ])(
    'does not fail where a message cannot be deleted, %s: it comes back, and is dropped as stale',
    async (_, remove) => {
      const held = holding();
      const sqs = {
        send: async (command: object) => {
          if (command instanceof DeleteMessageBatchCommand) return remove();
          return { Messages: held.inFlight.has('r0') ? [] : messagesOf(1) };
        },
      } as unknown as Pick<SQSClient, 'send'>;
      const telemetry = fakeTelemetry();
      const consume = makeConsumer({
        ...telemetry,
        ...systemTime,
        elapsed: () => 0,
        process: held.process,
        sqs,
        queueUrl: 'http://queue',
        describe: () => ({}),
        attemptTimeoutMs: 15_000,
        maxInFlight: 100,
        hasRoomFor: always,
        pause: systemTime.turn,
        random: () => 0.5,
      });
      const context = { getRemainingTimeInMillis: () => 45_000 };
      const answer = consume({ Records: [recordOf('a')] }, context);
      await rounds();
      held.end('a');
      held.end('r0');
      await expect(answer).resolves.toEqual({ batchItemFailures: [] });
      expect(telemetry.lines.filter(line => line.includes('message.not_deleted'))).toEqual([
        expect.stringContaining('r0'),
      ]);
    },
  );
});
