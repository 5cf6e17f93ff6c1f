import { type Message, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { type LogService, startLogs } from '@emissor/cloud/logs';
import { type Interceptor, type QueueService, startSqs } from '@emissor/cloud/testing';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openAuditLog } from '../../../../ops/audit/audit-log.ts';
import { discardLetters, listLetters, redriveLetters, showLetter } from '../../../../ops/deliveries/dlq.command.ts';
import { findOneEvent } from '../../../../ops/deliveries/events.command.ts';
import { localTarget, type Target, type Task } from '../../../../ops/stage/target.ts';
import { runOpsOn } from '../../../../tools/support/ops.ts';
import { startDatabase } from '../../../support/database/database.ts';
import { receiveAtOnce } from '../../../support/receive-at-once.ts';
import { aWebhook } from '../../delivery/builders.ts';
import { aTask } from '../a-task.ts';

let outputs: Readonly<Record<string, string>>;
let engine: QueueService;
let logs: LogService;
let client: SQSClient;
let urls: Record<'events' | 'dead', string>;
let beforeReceive: () => void;
let beforeDelete: () => void;

const database = await startDatabase('Deliveries', 'Webhooks');
afterAll(() => database.stop());

beforeEach(async () => {
  [beforeReceive, beforeDelete] = [() => undefined, () => undefined];
  const observe: Interceptor = ({ operation }) => {
    if (operation === 'ReceiveMessage') beforeReceive();
    if (operation === 'DeleteMessage') beforeDelete();
    return undefined;
  };
  engine = await startSqs({ interceptors: [receiveAtOnce, observe] });
  engine.ensureQueue({ name: 'events', maxMessageSize: largestMessage });
  engine.ensureQueue({ name: 'dead' });
  urls = { events: engine.urlOf('events'), dead: engine.urlOf('dead') };
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  client = new SQSClient({ region: 'us-east-1', endpoint: engine.endpoint, credentials });
  logs = await startLogs();
  const queues = { SqsEndpoint: engine.endpoint, EventsQueueUrl: urls.events, DeadLetterQueueUrl: urls.dead };
  const groups = { LogsEndpoint: logs.endpoint, AuditLogGroup: 'audit', DeliveryLogGroups: 'delivery' };
  const tables = { DynamoDbEndpoint: database.endpoint, DeliveriesTable: 'Deliveries', WebhooksTable: 'Webhooks' };
  outputs = { ...queues, ...groups, ...tables, Region: database.region };
});

afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  client.destroy();
  await Promise.all([engine.stop(), logs.stop()]);
});

const dlq = async (...args: string[]): Promise<string> => {
  const result = await runOpsOn(outputs, 'dlq', ...args);
  expect(result).toMatchObject({ code: 0, stderr: '' });
  return result.stdout;
};
/** A command that ends with another code than 0, or warns, or tells how far it is. */
const failing = (...args: string[]) => runOpsOn(outputs, 'dlq', ...args);
const list = async (
  ...args: string[]
): Promise<(Record<'messageId' | 'body' | 'sentAt' | 'reason', string> & { copies: number })[]> =>
  JSON.parse(await dlq('list', '--json', ...args));
const redrive = async () => JSON.parse(await dlq('redrive', '--json', '--rate', '1000'));

/** The clock of the queues, and of the command. */
const queueTimers = { toFake: ['Date', 'setTimeout', 'clearTimeout'] } satisfies Parameters<typeof vi.useFakeTimers>[0];

/** In bytes, as the stages' queues have it. */
const largestMessage = 1_040_384;

const event = (id_demanda: number) => ({ id_conta: 'acme', event: 'demanda.criada', id_demanda });

const put = async (body: string, attributes: Record<string, string> = {}, DelaySeconds = 0): Promise<string> => {
  const MessageAttributes = Object.fromEntries(
    Object.entries(attributes).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
  );
  const { MessageId = '' } = await client.send(
    new SendMessageCommand({ QueueUrl: urls.dead, MessageBody: body, MessageAttributes, DelaySeconds }),
  );
  return MessageId;
};

const take = async (QueueUrl: string) =>
  (
    await client.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['SentTimestamp'],
      }),
    )
  ).Messages ?? [];

/** The text of a message's attribute. */
const said = ({ MessageAttributes = {} }: Message, name: string) => MessageAttributes[name]?.StringValue;

/** The id that a message was published under. */
const original = '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f';

/** The attributes of a message that was refused. */
const refused = { reason: 'malformed', detail: 'no', original_message_id: original };

describe('ops dlq list', () => {
  it('names messages by the id of their publication, where that is known', async () => {
    const own = await put('moved by its queue');
    await put('moved by the function', refused);
    await put('moved twice', refused);
    expect((await list()).map(({ messageId, body, reason }) => [messageId, body, reason])).toEqual([
      [own, 'moved by its queue', null],
      [original, 'moved by the function', 'malformed'],
      [original, 'moved twice', 'malformed'],
    ]);
  });

  it('hides nothing from later commands (a redrive moved 0)', async () => {
    for (let index = 1; index <= 13; index += 1) await put(JSON.stringify(event(index)));
    expect(await list('--limit', '3')).toHaveLength(3);
    expect(await list()).toHaveLength(13);
    expect(await redrive()).toEqual({ moved: 13, kept: [], inFlight: 0, isCutOff: false });
    expect(await dlq('list')).toBe('There are no dead letters.\n');
  });

  // Bug: it ended at a hundred without a word.
  it('says where there are more than it shows', async () => {
    for (let index = 0; index < 3; index += 1) await put(`no JSON ${index}`);
    expect(await dlq('list', '--limit', '2')).toMatch(/\n\nThese are the first 2: --limit shows more\.\n$/);
    expect(await dlq('list', '--limit', '3')).not.toContain('--limit');
  });

  it('leaves an audit line where it shows bodies, and no other', async () => {
    const trail = () => openAuditLog(localTarget(outputs)).list(0, 100);
    await dlq('list');
    expect(await trail()).toEqual([]);
    await list();
    expect(await trail()).toMatchObject([{ command: 'dlq list', outcome: 'done' }]);
  });

  it('shows copies of one message as one, and a forged origin apart', async () => {
    for (let copy = 0; copy < 3; copy += 1) await put('no JSON', refused);
    await put('forged', refused);
    expect((await list()).map(({ messageId, body, copies }) => [messageId, body, copies])).toEqual([
      [refused.original_message_id, 'no JSON', 3],
      [refused.original_message_id, 'forged', 1],
    ]);
  });

  it.each(['list', 'list --json'])(
    'does not say that there are none while another looks at them: %s',
    async command => {
      for (let index = 0; index < 3; index += 1) await put(`no JSON ${index}`);
      expect(await take(urls.dead)).toHaveLength(3);
      const { code, stdout, stderr } = await runOpsOn(outputs, 'dlq', ...command.split(' '));
      expect(code).toBe(0);
      expect(stdout).not.toContain('There are no');
      expect(stderr).toContain('another command is looking at dead letters (about 3)');
    },
  );
});

/** SQS moves a message with its publisher's attributes. */
describe('the attributes of a publisher’s message', () => {
  const forged = { reason: 'malformed', detail: 'forged', sender: 'somebody else' };

  it('are not trusted: no event is listed, or discarded, as malformed', async () => {
    await put(JSON.stringify(event(1)), forged);
    await put('no JSON', { ...forged, reason: 'constructor' });
    expect(await list()).toMatchObject([
      { reason: null, detail: null, sender: null },
      { reason: null, detail: null, sender: null },
    ]);
    expect(JSON.parse(await dlq('discard', '--reason', 'malformed', '--yes', '--json'))).toEqual({ discarded: 0 });
    expect(await list()).toHaveLength(2);
  });

  it.each(['list', 'show'])('reach no terminal as control characters: %s', async command => {
    const detail = 'x\u009b2J\u202e\nMESSAGE ID';
    await put('no JSON', { ...refused, detail, sender: detail });
    const text = await dlq(command, ...(command === 'show' ? [original] : []));
    expect(text).toContain('x\\u{9b}2J\\u{202e}\\u{a}MESSAGE ID');
    expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
    expect(text.match(/^MESSAGE ID/gm)?.length ?? 0).toBe(command === 'list' ? 1 : 0);
  });
});

describe('ops dlq redrive', () => {
  it('sends events with the id and the time of their publication', async () => {
    const own = await put(JSON.stringify(event(1)));
    const named = `${JSON.stringify({ ...event(2), id: 'its-own' })}\n`;
    const long = '2026-01-02T03:04:05.678Z';
    const origin = { original_message_id: original, original_sent_at: long };
    await put(named, { reason: 'unknown_event', detail: 'no', ...origin });
    const listed = await list();
    expect(listed).toMatchObject([{ messageId: own }, { messageId: original, sentAt: long }]);
    expect(await redrive()).toMatchObject({ moved: 2 });
    const taken = await take(urls.events);
    expect(taken.map(({ Body }) => Body)).toEqual([JSON.stringify({ ...event(1), id: own }), named]);
    expect(taken.map(message => said(message, 'original_message_id'))).toEqual([own, original]);
    expect(taken.map(message => said(message, 'original_sent_at'))).toEqual([listed[0]?.sentAt, long]);
    expect(taken.map(message => said(message, 'reason'))).toEqual([undefined, undefined]);
  });

  it('sends copies of one message once', async () => {
    const origin = { original_message_id: original };
    for (let copy = 0; copy < 3; copy += 1) await put(JSON.stringify(event(1)), origin);
    await put('no JSON', refused);
    await put('no JSON', refused);
    const { moved, kept } = await redrive();
    expect([moved, kept.length]).toEqual([1, 1]);
    expect(await take(urls.events)).toHaveLength(1);
    expect(await list()).toMatchObject([{ body: 'no JSON', copies: 2 }]);
  });

  it('moves those that are named alone, wherever they stand', async () => {
    const others = [await put('no JSON'), await put(JSON.stringify(event(2)))];
    const own = await put(JSON.stringify(event(1)));
    expect(JSON.parse(await dlq('redrive', own, '--limit', '1', '--rate', '1000', '--json'))).toMatchObject({
      moved: 1,
    });
    expect(await take(urls.events)).toHaveLength(1);
    expect((await list()).map(({ messageId }) => messageId)).toEqual(others);
  });

  // Bug: those that it kept counted, so that what stood behind a thousand of them was never looked at.
  it('moves as many as it may, whatever it keeps, and says where there are more', async () => {
    for (let index = 0; index < 12; index += 1) await put(`no JSON ${index}`);
    for (let index = 1; index <= 3; index += 1) await put(JSON.stringify(event(index)));
    const some = JSON.parse(await dlq('redrive', '--json', '--rate', '1000', '--limit', '1'));
    expect([some.moved, some.kept.length, some.isCutOff]).toEqual([1, 12, true]);
    expect(await list()).toHaveLength(14);
    expect(await dlq('redrive', '--rate', '1000', '--limit', '1')).toMatch(
      /^Moved 1, kept 12\. Others were not looked at: the same command again goes on with them\.\n/,
    );
    expect(await dlq('redrive', '--rate', '1000', '--limit', '1')).toMatch(/^Moved 1, kept 12\.\n/);
  });

  // Bug: it said that --limit moves more, where all others would have been kept.
  it('promises nothing of those that it did not look at', async () => {
    await put(JSON.stringify(event(1)));
    await put('no JSON');
    expect(await dlq('redrive', '--limit', '1')).toBe(
      'Moved 1, kept 0. Others were not looked at: the same command again goes on with them.\n',
    );
  });

  // Bug: those that a killed redrive had received stayed hidden, of 50,000 for 86 minutes.
  it('shows all that it did not move at once when it is interrupted, and ends with an error', async () => {
    for (let index = 1; index <= 12; index += 1) await put(JSON.stringify(event(index)));
    const listeners = process.listenerCount('SIGINT');
    const tell = vi.fn<(line: string) => void>();
    const target = { ...localTarget(outputs), pause: async () => void process.emit('SIGINT', 'SIGINT') };
    const redriven = redriveLetters.act(aTask(target, { tell }), { ids: [], rate: 10, limit: 1_000 });
    await expect(redriven).rejects.toThrow('interrupted: the same command again goes on with the others.');
    expect(tell.mock.calls).toEqual([[expect.stringMatching(/^Ending: .* Ctrl-C again stops at once\.$/)]]);
    expect(await list()).toHaveLength(11);
    expect(await openAuditLog(target).list(0, 100)).toContainEqual(
      expect.objectContaining({ command: 'dlq redrive', outcome: 'failed', target: { count: 1 } }),
    );
    expect(process.listenerCount('SIGINT')).toBe(listeners);
  });

  it.each([
    [1, undefined],
    [2, /^interrupted: "dlq redrive \S+" goes on with the others\.$/],
  ])('names those that are left when it is interrupted, where %i were named', async (named, said) => {
    const put3 = [await put(JSON.stringify(event(1))), await put(JSON.stringify(event(2))), await put('no JSON')];
    const target = { ...localTarget(outputs), pause: async () => void process.emit('SIGINT', 'SIGINT') };
    const redriven = redriveLetters.act(aTask(target), { ids: put3.slice(0, named), rate: 10, limit: 1_000 });
    if (said) await expect(redriven).rejects.toThrow(said);
    else expect(await redriven).toMatchObject({ moved: 1, kept: [] });
  });

  // Bug: of an id that nobody has it said "Moved 0, kept 0." and ended with 0.
  it('fails where it did not see a named message, and says what it did with the others', async () => {
    const [one, two] = [await put(JSON.stringify(event(1))), await put('no JSON')];
    const { code, stderr } = await failing('redrive', one, two, 'nope', '--rate', '1000');
    const told = `warning: message ${two} is kept: .*\n.*count 1\nerror: the dead-letter queue shows no message nope: "dlq list"`;
    expect([code, stderr]).toEqual([1, expect.stringMatching(told)]);
    expect(await failing('redrive', two, 'nope', '--limit', '1')).toMatchObject({ code: 1 });
    const more = [await put(JSON.stringify(event(3))), await put(JSON.stringify(event(4))), 'nope'];
    const cutOff = /^Moved 1, kept 0\. Others were not looked at: "dlq redrive (\S+) nope" goes on with them\.\n$/;
    const [, left] = cutOff.exec(await dlq('redrive', ...more, '--limit', '1')) ?? [];
    expect(more).toContain(left);
  });

  // Bug: events of a name that Emissor came to know later reached nobody, were gone, and were reported as moved.
  it('keeps an event whose account registered the webhook after it was sent', async () => {
    const sentAt = Date.now() - 3_600_000;
    const origin = { original_message_id: original, original_sent_at: new Date(sentAt).toISOString() };
    const register = (createdAt: number) =>
      database.dynamo(new PutCommand({ TableName: 'Webhooks', Item: aWebhook({ accountId: 'late', createdAt }) }));
    await register(sentAt + 1_000);
    await put(JSON.stringify({ ...event(1), id_conta: 'late' }), origin);
    await put(JSON.stringify({ ...event(2), id_conta: 'without-webhook' }));
    expect(await redrive()).toMatchObject({
      moved: 1,
      kept: [{ messageId: original, detail: expect.stringContaining('have it published again') }],
    });
    await register(sentAt - 1_000);
    expect(await redrive()).toMatchObject({ moved: 1, kept: [] });
  });

  // Bug: it ended with SQS's error, and moved nothing that stood behind the message.
  it('keeps a message that is too large with the attributes that it adds, and moves the others', async () => {
    const largest = JSON.stringify({ ...event(1), note: '' });
    const sized = (bytes: number) => largest.replace('""', `"${'x'.repeat(bytes - largest.length)}"`);
    const tooLarge = await put(sized(largestMessage));
    await put(JSON.stringify(event(2)));
    await put(sized(largestMessage - 256));
    const { moved, kept } = await redrive();
    expect({ moved, kept }).toEqual({
      moved: 2,
      kept: [
        {
          messageId: tooLarge,
          detail: expect.stringMatching(/^SQS rejects it: .* shorter than 1040384 bytes\. Have it published again$/),
        },
      ],
    });
    expect(await list()).toMatchObject([{ messageId: tooLarge, body: sized(largestMessage), reason: null, copies: 1 }]);
    expect(await take(urls.events)).toHaveLength(2);
    expect(await dlq('redrive', tooLarge)).toMatch(/^Moved 0, kept 1\.\n[\s\S]*SQS rejects it/);
    const command = { command: 'dlq redrive', outcome: 'done', target: { messages: [tooLarge] } };
    expect((await openAuditLog(localTarget(outputs)).list(0, 100))[0]).toMatchObject(command);
  });

  it('shows what it kept again at once', async () => {
    await put('no JSON', { original_message_id: original });
    expect(await redrive()).toMatchObject({ moved: 0, kept: [{ messageId: original }] });
    expect(await list()).toHaveLength(1);
  });

  it('reports messages that another command has in flight', async () => {
    await put(JSON.stringify(event(1)));
    await put(JSON.stringify(event(2)));
    expect(await take(urls.dead)).toHaveLength(2);
    expect(await dlq('redrive')).toBe(
      'Moved 0, kept 0.\n\nAbout 2 more may be in the hands of another command: they show again when it ends.\n',
    );
  });

  it('receives messages that a killed command had in flight', async () => {
    // from a minute ago until now: of a clock that is wrong the command would tell
    vi.useFakeTimers({ ...queueTimers, now: Date.now() - 61_000 });
    await put(JSON.stringify(event(1)));
    expect(await take(urls.dead)).toHaveLength(1);
    vi.advanceTimersByTime(61_000);
    expect(await redrive()).toEqual({ moved: 1, kept: [], inFlight: 0, isCutOff: false });
  });

  it('goes on past kept messages that show again', async () => {
    vi.useFakeTimers(queueTimers);
    for (let index = 0; index < 10; index += 1) await put(`no JSON ${index}`);
    await put(JSON.stringify(event(1)), {}, 30);
    let receives = 0;
    beforeReceive = () => {
      receives += 1;
      if (receives === 2) vi.advanceTimersByTime(61_000);
    };
    const { moved, kept } = await redrive();
    expect({ moved, kept: kept.length }).toEqual({ moved: 1, kept: 10 });
  });
});

describe('ops dlq show', () => {
  it('shows a message by the id it was published under, with its body and who sent it', async () => {
    await put('another');
    await put('no JSON\u009b2J\u202e', { ...refused, detail: 'no JSON', sender: 'AROA:x' });
    expect(JSON.parse(await dlq('show', original, '--json'))).toEqual({
      messageId: original,
      body: 'no JSON\u009b2J\u202e',
      sentAt: expect.stringMatching(/^\d{4}-.*Z$/),
      reason: 'malformed',
      detail: 'no JSON',
      sender: 'AROA:x',
      copies: 1,
    });
    const text = await dlq('show', original);
    expect(text).toMatch(/sender +AROA:x\n/);
    expect(text).toContain('no JSON\\u{9b}2J\\u{202e}'); // nothing that the terminal would obey
    expect(await list()).toHaveLength(2);
  });

  it('fails in one line, or in one JSON object, where there is none', async () => {
    const message = /^error: the dead-letter queue shows no message nope: "dlq list" .*\n$/;
    expect(await failing('show', 'nope')).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
    const asJson = await failing('show', 'nope', '--json');
    expect(asJson).toMatchObject({ code: 1, stdout: '' });
    expect(JSON.parse(asJson.stderr)).toEqual({
      error: expect.stringMatching(/^the dead-letter queue shows no message nope/),
      code: 'refused',
      exitCode: 1,
    });
  });
});

// Bug: those that a look had received stayed hidden when it was interrupted.
it.each([
  ['dlq list', listLetters, { limit: 100, bodies: false }, /^interrupted\.$/],
  ['dlq show', showLetter, { message: 'nope' }, /^interrupted\.$/],
  ['dlq discard', discardLetters, { ids: ['nope'] }, /^interrupted: "dlq discard nope" goes on with the others\.$/],
  [
    'dlq discard --reason',
    discardLetters,
    { ids: [], reason: 'malformed' },
    /^interrupted: the same command again goes on/,
  ],
  ['events find', findOneEvent, { named: 'nope' }, /^interrupted\.$/],
] as const)('ops %s shows all again at once when it is interrupted', async (_name, { act }, given, said) => {
  logs.put('delivery', 'a line of nothing');
  await put('no JSON');
  await put('no JSON either');
  beforeReceive = () => void process.emit('SIGINT', 'SIGINT');
  const task = aTask(localTarget(outputs));
  await expect((act as (...asked: unknown[]) => Promise<unknown>)(task, given)).rejects.toThrow(said);
  beforeReceive = () => undefined;
  expect(await list()).toHaveLength(2);
});

describe.each([
  ['show', []],
  ['discard', ['--yes']],
])('ops dlq %s of a message that another command is looking at', (command, more) => {
  it('says that others are looking, and not that there is none', async () => {
    const id = await put('no JSON');
    expect(await take(urls.dead)).toHaveLength(1);
    const { code, stderr } = await failing(command, id, ...more);
    expect(code).toBe(1);
    expect(stderr).toContain('another command is looking at dead letters (about 1)');
    expect(stderr).not.toContain('dlq list');
  });
});

describe('ops dlq discard', () => {
  it('counts copies of one message once', async () => {
    for (let copy = 0; copy < 3; copy += 1) await put('no JSON', refused);
    const discarded = await dlq('discard', refused.original_message_id, '--yes', '--json');
    expect(JSON.parse(discarded)).toEqual({ discarded: 1 });
    expect(await list()).toEqual([]);
  });

  it('of a reason warns where another command is looking: some may be of that reason', async () => {
    await put('no JSON', refused);
    expect(await take(urls.dead)).toHaveLength(1);
    const { code, stdout, stderr } = await failing('discard', '--reason', 'malformed', '--yes');
    expect([code, stdout]).toEqual([0, 'Discarded 0.\n']);
    expect(stderr).toMatch(/^warning: another command is looking at dead letters \(about 1\)/);
  });

  it('is refused without a terminal unless --yes says so, and then touches nothing', async () => {
    const id = await put('no JSON');
    const refused = await failing('discard', id);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^error: This deletes the dead letter .* for good\. .*add --yes\.\n$/);
    expect(await list()).toHaveLength(1);
  });

  it('deletes the named messages, and makes the others visible again', async () => {
    const malformed = { reason: 'malformed', detail: 'no' };
    const [one, two] = [await put('one'), await put('two')];
    await put('again', { ...malformed, original_message_id: '1a2b3c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d' });
    await put('and again', { ...malformed, original_message_id: '1a2b3c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d' });
    await put('stays');
    expect(
      JSON.parse(await dlq('discard', one, two, '1a2b3c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d', '--yes', '--json')),
    ).toEqual({ discarded: 4 });
    expect((await list()).map(({ body }) => body)).toEqual(['stays']);
  });

  it('says which messages it did not find', async () => {
    const id = await put('one');
    const refused = await failing('discard', id, 'nope', '--yes');
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/this was done: count 1\n.*no message nope/),
    });
    expect(await list()).toEqual([]);
  });

  // Bug: it said that the same command goes on, which failed then: what was gone by now was not to be seen.
  it('names those that are left when it is interrupted, and ends well where none is', async () => {
    const [one, two] = [await put('one'), await put('two')];
    await put('another');
    beforeDelete = () => void process.emit('SIGINT', 'SIGINT');
    const discard = (ids: readonly string[]) => discardLetters.act(aTask(localTarget(outputs)), { ids });
    await expect(discard([one, two])).rejects.toThrow(`interrupted: "dlq discard ${two}" goes on with the others.`);
    expect(await discard([two])).toBe(1);
    expect((await list()).map(({ body }) => body)).toEqual(['another']);
  });

  it('deletes all that were refused for a reason', async () => {
    for (let index = 0; index < 12; index += 1) await put(`no JSON ${index}`, { reason: 'malformed', detail: 'no' });
    await put('unknown', { reason: 'unknown_event', detail: 'no' });
    await put('moved by its queue');
    expect(JSON.parse(await dlq('discard', '--reason', 'malformed', '--yes', '--json'))).toEqual({ discarded: 12 });
    expect((await list()).map(({ body }) => body)).toEqual(['unknown', 'moved by its queue']);
  });

  // Bug: the trail named the first hundred of those that were asked for, and of a reason none.
  it.each([
    ['discard', ['--reason', 'malformed', '--yes']],
    ['redrive', ['--rate', '1000']],
  ])('%s leaves the id of each message in the audit trail', async (verb, args) => {
    const body = (index: number) => JSON.stringify(verb === 'discard' ? index : event(index));
    const sent = Array.from({ length: 150 }, (_, index) => put(body(index + 1), { reason: 'malformed' }));
    const ids = await Promise.all(sent);
    expect(await failing(verb, ...args)).toMatchObject({ code: 0 });
    const [line] = await openAuditLog(localTarget(outputs)).list(0, 1);
    expect(line?.parts.map(({ messages = [] }) => Object(messages).length)).toEqual([100, 50]);
    expect(line?.parts.flatMap(({ messages = [] }) => messages).toSorted()).toEqual(ids.toSorted());
  });

  it.each([
    ['nothing', []],
    ['both ids and a reason', ['x', '--reason', 'malformed']],
    ['an unknown reason', ['--reason', 'boring']],
    ['what is no id', ['a b']],
  ])('does not understand %s', async (_what, args) => {
    const refused = await failing('discard', ...args, '--yes', '--json');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(refused.stderr)).toMatchObject({ code: 'usage', exitCode: 2 });
  });
});

// Bug: after 100,000 letters they ended as if there were no more.
it.each([
  ['redrive', (task: Task) => redriveLetters.act(task, { ids: [], rate: 1_000, limit: 1_000 })],
  ['discard', (task: Task) => discardLetters.act(task, { ids: [], reason: 'unknown_event' })],
])('ops dlq %s says where more letters may stand behind those that it looked at', async (_verb, act) => {
  let received = 0;
  const send = async (command: object) => {
    const { MaxNumberOfMessages: length = 0 } = command instanceof ReceiveMessageCommand ? command.input : {};
    const ids = Array.from({ length }, () => `${++received}`);
    return { Messages: ids.map(id => ({ MessageId: id, ReceiptHandle: id, Body: '0' })) };
  };
  const local = localTarget(outputs);
  const connect: Target['connect'] = (Service, ...endpoint) =>
    Object.assign(local.connect(Service, ...endpoint), Object(Service) === SQSClient && { send });
  const warn = vi.fn<Task['warn']>();
  await act(aTask({ ...local, connect }, { warn }));
  expect(warn.mock.calls).toEqual([[expect.stringMatching(/looked at 100000 .* others may stand behind/)]]);
});
