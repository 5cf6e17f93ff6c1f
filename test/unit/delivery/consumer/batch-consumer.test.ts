import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { makeConsumer, type ProcessRecord } from '../../../../lambdas/delivery/consumer/batch-consumer.ts';
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
  /** The answer to what deletes messages. @default all are deleted */
  readonly deletes?: () => Promise<object>;
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
    deletes = async () => ({}),
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
      return deletes();
    }
    changes.push(command.input);
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
  const process: ProcessRecord = ({ messageId }, consumer) =>
    new Promise(resolve => {
      const onEnd = consumer?.onAttempt();
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
  Attributes: { ApproximateReceiveCount: '6', SentTimestamp: '1' },
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

/** Has messages consumed whose attempts last until the test ends them, through some rounds. */
const consuming = async (
  given: readonly string[],
  circumstances: Circumstances = {},
  {
    around = process => process,
    count = 10,
  }: { around?: (process: ProcessRecord) => ProcessRecord; count?: number } = {},
) => {
  const held = holding();
  const consumer = consumerOf(around(held.process), circumstances);
  const answer = consumer.consume(...given.map(id => recordOf(id)));
  await rounds(count);
  const finish = () => {
    held.endAll();
    return answer;
  };
  return { ...consumer, ...held, finish };
};

const ten = Array.from({ length: 10 }, (_, at) => `given${at}`);

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
  });

  it('makes what failed wait longer the more often it comes, up to 15 min; all that failed is no fault of the call', async () => {
    const { consume, changes } = consumerOf(failing('a', 'b'));
    expect((await consume(recordOf('a', 1), recordOf('b', 8))).batchItemFailures).toHaveLength(2);
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
    expect(telemetry.counts).toEqual({ InternalError: 1 });
  });

  it.each([
    ['is shed is hidden for a moment', 'shed', 1],
    ['comes too early is hidden until it is due', { hiddenFor: 12_345 }, 13],
  ] as const)('reports as not done what %s, and as no fault', async (_, outcome, VisibilityTimeout) => {
    const { consume, changes, telemetry } = consumerOf(async () => outcome);
    expect(await consume(recordOf('a', 4))).toEqual({ batchItemFailures: [{ itemIdentifier: 'a' }] });
    const Entries = [{ Id: '0', ReceiptHandle: 'handle-a', VisibilityTimeout }];
    expect(changes).toEqual([{ QueueUrl: 'http://queue', Entries }]);
    expect(telemetry.counts).toEqual({});
    expect(telemetry.lines).toEqual([]);
  });
});

describe('a consumer that waits for receivers', () => {
  it('receives further messages meanwhile, and deletes each once it is processed', async () => {
    const { inFlight, end, deleted, finish } = await consuming(['a', 'b'], { queued: [messagesOf(2)] });
    expect([...inFlight.keys()]).toEqual(['a', 'b', 'r0', 'r1']);
    end('r1');
    end('a');
    await rounds();
    expect(deleted).toEqual([['handle-r1']]); // what Lambda gave, Lambda deletes
    expect(await finish()).toEqual({ batchItemFailures: [] });
    expect(deleted).toEqual([['handle-r1'], ['handle-r0']]);
  });

  // A killed process kept what it had received from everybody for four and a half minutes.
  it('hides them for as long as an attempt may take, and what is around it', async () => {
    const { hiddenFor, finish } = await consuming(['a']);
    expect(hiddenFor[0]).toBe(25);
    await finish();
  });

  it('hands them over as Lambda does', async () => {
    const seen: SQSRecord[] = [];
    const around = (process: ProcessRecord) => (record: SQSRecord) => {
      seen.push(record);
      return process(record);
    };
    const { finish } = await consuming(['a'], { queued: [messagesOf(1)] }, { around });
    await finish();
    expect(seen[1]).toMatchObject({
      messageId: 'r0',
      body: 'r0',
      attributes: { ApproximateReceiveCount: '6', SentTimestamp: '1' },
      messageAttributes: { original_message_id: { dataType: 'String', stringValue: 'first' } },
    });
  });

  it('defers what it received and could not process, and reports what it was given, early and late ones', async () => {
    const around =
      (process: ProcessRecord): ProcessRecord =>
      async (record, onAttempt) => {
        await failing('r0', 'early')(record);
        await process(record, onAttempt);
        return failing('late')(record);
      };
    const given = ['late', 'b'];
    const { changes, deleted, finish } = await consuming(given, { queued: [messagesOf(2)] }, { around });
    expect(await finish()).toEqual({ batchItemFailures: [{ itemIdentifier: 'late' }] });
    expect(changes).toMatchObject([
      { ReceiptHandle: 'handle-r0', VisibilityTimeout: 10 },
      { ReceiptHandle: 'handle-late', VisibilityTimeout: 5 },
    ]);
    expect(deleted).toEqual([['handle-r1']]);
    const all = await consuming(['early', 'late'], {}, { around });
    expect((await all.finish()).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual([
      'early',
      'late',
    ]);
  });

  it('sheds what it received, too, and goes on receiving', async () => {
    const around =
      (process: ProcessRecord): ProcessRecord =>
      async (record, onAttempt) =>
        record.messageId.startsWith('hog') ? 'shed' : process(record, onAttempt);
    const queued = [messagesOf(10, 'hog'), messagesOf(2)];
    const { inFlight, changes, deleted, finish } = await consuming(['a', 'hog-given'], { queued }, { around });
    expect([...inFlight.keys()]).toEqual(['a', 'r0', 'r1']);
    expect(changes.flatMap(change => ('Entries' in change ? change.Entries : []))).toHaveLength(11);
    expect(await finish()).toEqual({ batchItemFailures: [{ itemIdentifier: 'hog-given' }] });
    expect(deleted.flat()).toEqual(['handle-r0', 'handle-r1']);
  });

  it('receives nothing where the batch is over before the first pause is', async () => {
    const { consume, receives, pauses } = consumerOf(async () => 'processed', { queued: [messagesOf(10)] });
    await consume(recordOf('a'), recordOf('b'));
    expect(receives()).toBe(0);
    expect(pauses).toEqual([100]);
  });

  it('has no more than 100 messages in flight, and receives again when there is room', async () => {
    const queued = Array.from({ length: 10 }, (_, at) => messagesOf(10, `m${at}-`));
    const { inFlight, end, most, finish } = await consuming(ten, { queued }, { count: 100 });
    expect(inFlight.size).toBe(100);
    end('given0');
    await rounds();
    expect(inFlight.size).toBe(99); // a call might give ten
    for (const id of ten) end(id);
    await rounds();
    expect(inFlight.size).toBe(100);
    expect(await finish()).toEqual({ batchItemFailures: [] });
    expect(most()).toBe(100);
    expect(queued).toEqual([]);
  });

  it('receives nothing any more when a whole attempt does not fit into its time', async () => {
    let remaining = 31_000; // 25 s for an attempt, and six of the two to ten that are drawn
    const queued = [messagesOf(1, 'first'), messagesOf(1, 'second')];
    const { receives, finish } = await consuming(['a'], { remaining: () => remaining, queued }, { count: 3 });
    const before = receives();
    expect(before).toBeGreaterThan(0);
    remaining = 30_999;
    await rounds();
    expect(receives()).toBeLessThanOrEqual(before + 1);
    const then = receives();
    await rounds();
    expect(receives()).toBe(then);
    await finish();
  });

  // Processes that a burst had begun together stopped together too, and then nobody received.
  it.each([
    [0.37, true],
    [0.38, false],
  ])('stops receiving at another moment than a process that began with it: %s', async (random, doesReceive) => {
    const { receives, finish } = await consuming(['a'], { remaining: 30_000, random }, { count: 3 });
    await finish();
    expect(receives() > 0).toBe(doesReceive);
  });

  // In plain sustained load ten messages were deferred at a time, and the operators paged: outcomes cannot be stored.
  it.each([
    ['does not begin a receive that could outlast its time', 25_015, 0, 0],
    ['sheds what a receive brings that took longer than that', 27_100, 1, 2],
  ])('%s', async (_, before, receives, shed) => {
    const queued = [messagesOf(2)];
    const remaining = () => (queued.length > 0 ? before : 24_985);
    const consumer = await consuming(['a'], { remaining, queued, random: 0.001 });
    expect([...consumer.inFlight.keys()]).toEqual(['a']);
    expect(await consumer.finish()).toEqual({ batchItemFailures: [] });
    expect(consumer.receives()).toBe(receives);
    expect(consumer.changes.flatMap(change => ('Entries' in change ? change.Entries : []))).toHaveLength(shed);
    expect(consumer.telemetry.counts).toEqual({});
    expect(consumer.deleted).toEqual([]);
  });

  it.each<[string, readonly string[], Circumstances, number[]]>([
    // Before the first look at the queue a tenth of a second went by, in which a burst stood still.
    ['at once where its batch was full', ten, {}, [1, 100, 200]],
    // Each quiet event cost a call that received nothing.
    ['after a quarter of a second where it was given one message', ['a'], {}, [250, 500, 1_000]],
    ['again soon where it has no room', ['a'], { lateness: () => 51 }, [250, 10, 10]],
    [
      'again soon after it received something, and ever more rarely while there is nothing: up to a second',
      ['a', 'b'],
      { queued: [[], [], [], [], [], messagesOf(1), []] },
      [100, 200, 400, 800, 1_000, 1_000, 1, 100, 200],
    ],
  ])('looks at its queue %s', async (_, given, circumstances, expected) => {
    const { pauses, finish } = await consuming(given, circumstances, { count: 20 });
    await finish();
    expect(pauses.slice(0, expected.length)).toEqual(expected);
  });

  // On a busy machine it took on more attempts than it could keep up with, and healthy receivers seemed to time out.
  it('receives nothing while its own timers are late', async () => {
    let lateness = 51;
    const { receives, inFlight, finish } = await consuming(['a'], {
      queued: [messagesOf(10)],
      lateness: () => lateness,
    });
    expect(receives()).toBe(0);
    lateness = 50;
    await rounds();
    expect(inFlight.size).toBe(11);
    await finish();
  });

  // Thirty processes with a hundred messages each made the store of a local run time out, and all of them were deferred.
  it('receives nothing while thirty messages wait for us and not for their receivers', async () => {
    const queued = [messagesOf(10, 'one'), messagesOf(10, 'two'), messagesOf(10, 'three')];
    const around = (process: ProcessRecord) => (record: SQSRecord) => process(record);
    const { receives, end, finish } = await consuming(ten, { queued }, { around, count: 20 });
    expect(receives()).toBe(2);
    end('given0');
    await rounds();
    expect(receives()).toBe(3);
    await finish();
  });

  // Of 10,320 events of one healthy webhook it received 6,601 for nothing.
  it('receives nothing where ten more would not be admitted, and looks again soon', async () => {
    const asked: number[] = [];
    const hasRoomFor = (more: number) => asked.push(more) !== 2;
    const { receives, pauses, finish } = await consuming(['a', 'b'], { queued: [messagesOf(10)], hasRoomFor });
    expect(asked.slice(0, 3)).toEqual([10, 10, 10]);
    expect(pauses.slice(0, 4)).toEqual([100, 1, 10, 100]);
    expect(receives()).toBeGreaterThan(1);
    await finish();
  });

  it('receives nothing more once a message could not be processed: that is ours', async () => {
    const around =
      (process: ProcessRecord): ProcessRecord =>
      async (record, onAttempt) => {
        await failing('bad')(record);
        return process(record, onAttempt);
      };
    const { receives, finish } = await consuming(['a', 'bad'], { queued: [messagesOf(10)] }, { around });
    expect(receives()).toBe(0);
    await finish();
  });

  it('is not harmed by a queue that cannot be read: it asks again, and reports its batch', async () => {
    const { receives, telemetry, finish } = await consuming(['a'], { sqsFails: true });
    expect(receives()).toBeGreaterThan(1);
    expect(await finish()).toEqual({ batchItemFailures: [] });
    expect(telemetry.lines.join()).toContain('message.not_received');
    expect(telemetry.lines.join()).not.toContain('canary-7f3a');
  });

  it('deletes what was processed meanwhile in one call, ten at a time', async () => {
    const queued = [messagesOf(10), messagesOf(10, 's')];
    const { inFlight, end, deleted, finish } = await consuming(['a'], { queued });
    for (const id of [...inFlight.keys()].filter(id => id !== 'a').slice(0, 13)) end(id);
    await rounds();
    expect(deleted.map(call => call.length)).toEqual([10, 3]);
    await finish();
    expect(deleted.map(call => call.length)).toEqual([10, 3, 7]);
  });

  it.each([
    ['none of its call', () => Promise.reject(new Error('no queue'))],
    ['it alone', async () => ({ Failed: [{ Id: '0', Code: 'ReceiptHandleIsInvalid' }] })],
  ])(
    'does not fail where a message cannot be deleted, %s: it comes back, and is dropped as stale',
    async (_, deletes) => {
      const { telemetry, finish } = await consuming(['a'], { queued: [messagesOf(1)], deletes });
      expect(await finish()).toEqual({ batchItemFailures: [] });
      expect(telemetry.lines.filter(line => line.includes('message.not_deleted'))).toEqual([
        expect.stringContaining('r0'),
      ]);
    },
  );
});
