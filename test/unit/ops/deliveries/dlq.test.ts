import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { opsRuntime } from '../../../../ops/stage/ops-runtime.ts';
import {
  type Conditions,
  fail,
  interrupt,
  maxMessageSize,
  type OperatedTables,
  startOperatedTables,
} from '../../../support/operated-tables.ts';
import { aWebhook } from '../../delivery/builders.ts';

let operated: OperatedTables;
beforeEach(async () => {
  operated = await startOperatedTables();
});
afterEach(async () => {
  vi.useRealTimers();
  await operated.stop();
});

const dlq = async (words: string): Promise<string> => {
  const { stdout, ...result } = await operated.run(`dlq ${words}`);
  expect(result).toEqual({ code: 0, stderr: '' });
  return stdout;
};
/** Runs a command that fails or warns. */
const failing = (words: string, conditions: Conditions = {}) => operated.under(conditions).run(`dlq ${words}`);
const list = (options = ''): Promise<Record<'messageId' | 'body' | 'sentAt' | 'reason', string>[]> =>
  operated.json(`dlq list${options}`);
const redrive = (options = '') => operated.json(`dlq redrive --rate 1000${options}`);

const event = (id_demanda: number) => ({ id_conta: 'acme', event: 'demanda.criada', id_demanda });
const put = (body: string, texts = {}, delay = 0) => operated.send('dead', body, texts, delay);
const putEvents = (...numbers: readonly number[]) =>
  Promise.all(numbers.map(number => put(JSON.stringify(event(number)))));

const original = '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f';

const rejected = { reason: 'malformed', detail: 'no', original_message_id: original };

describe('ops dlq list', () => {
  it('lists messages by their original ids, and merges copies unless the origin is forged', async () => {
    const own = await put('moved by its queue');
    for (let copy = 0; copy < 3; copy += 1) await put('no JSON', rejected);
    await put('forged', rejected);
    expect(await list()).toMatchObject([
      { messageId: own, body: 'moved by its queue', reason: null, copies: 1 },
      { messageId: original, body: 'no JSON', reason: 'malformed', copies: 3 },
      { messageId: original, body: 'forged', reason: 'malformed', copies: 1 },
    ]);
  });

  it('reports that there are more messages, and makes all messages visible again', async () => {
    await putEvents(...Array.from({ length: 13 }, (_, at) => at + 1));
    expect(await list(' --limit 3')).toHaveLength(3);
    expect(await dlq('list --limit 12')).toMatch(/\n\nOnly the first 12 are shown\. Use a larger --limit .*\.\n$/);
    expect(await dlq('list --limit 13')).not.toContain('--limit');
    expect(await redrive()).toEqual({ moved: 13, kept: [], inFlight: 0, isCutOff: false });
    expect(await dlq('list')).toBe('The dead-letter queue is empty.\n');
  });

  it('writes an audit line only if it shows bodies', async () => {
    await dlq('list');
    expect(await operated.trail()).toEqual([]);
    await list();
    expect(await operated.trail()).toMatchObject([{ command: 'dlq list', outcome: 'done' }]);
  });
});

// A message that SQS moves keeps the attributes that its publisher set.
describe('the attributes of a publisher’s message', () => {
  it('are not trusted as the reason for a rejection', async () => {
    const forged = { reason: 'malformed', detail: 'forged', sender: 'another sender' };
    await put(JSON.stringify(event(1)), forged);
    await put('no JSON', { ...forged, reason: 'constructor' });
    const untrusted = { reason: null, detail: null, sender: null };
    expect(await list()).toMatchObject([untrusted, untrusted]);
    expect(await operated.json('dlq discard --reason malformed')).toEqual({ discarded: 0 });
    expect(await list()).toHaveLength(2);
  });

  it.each(['list', `show ${original}`])('are shown with control characters escaped: %s', async words => {
    const detail = 'x\u009b2J\u202e\nMESSAGE ID';
    await put('no JSON\u009b2J', { ...rejected, detail, sender: detail });
    const text = await dlq(words);
    expect(text).toContain('x\\u{9b}2J\\u{202e}\\u{a}MESSAGE ID');
    expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
    expect(text.match(/^MESSAGE ID/gm)?.length ?? 0).toBe(words === 'list' ? 1 : 0);
  });
});

describe('ops dlq redrive', () => {
  it('sends events once, with their original ids and publication times', async () => {
    const own = await put(JSON.stringify(event(1)));
    const withId = `${JSON.stringify({ ...event(2), id: 'its-own' })}\n`;
    const long = '2026-01-02T03:04:05.678Z';
    const origin = { reason: 'unknown_event', detail: 'no', original_message_id: original, original_sent_at: long };
    for (let copy = 0; copy < 3; copy += 1) await put(withId, origin);
    const listed = await list();
    expect(listed).toMatchObject([{ messageId: own }, { messageId: original, sentAt: long, copies: 3 }]);
    expect(await redrive()).toMatchObject({ moved: 2, kept: [] });
    const texts = (await operated.receive('events')).map(({ Body, MessageAttributes = {} }) => [
      Body,
      ...['original_message_id', 'original_sent_at', 'reason'].map(name => MessageAttributes[name]?.StringValue),
    ]);
    expect(texts.toSorted()).toEqual(
      [
        [JSON.stringify({ ...event(1), id: own }), own, listed[0]?.sentAt, undefined],
        [withId, original, long, undefined],
      ].toSorted(),
    );
    expect(await list()).toEqual([]);
  });

  it('moves only the specified messages, at any position in the queue', async () => {
    const others = [await put('no JSON'), ...(await putEvents(2))];
    const [own] = await putEvents(1);
    expect(await redrive(` ${own} --limit 1`)).toMatchObject({ moved: 1 });
    expect(await operated.receive('events')).toHaveLength(1);
    expect((await list()).map(({ messageId }) => messageId)).toEqual(others);
  });

  it('moves messages up to its limit, and reports that other messages were not read', async () => {
    for (let index = 0; index < 12; index += 1) await put(`no JSON ${index}`, index ? {} : rejected);
    await putEvents(1, 2, 3);
    const some = await redrive(' --limit 1');
    expect([some.moved, some.kept.length, some.kept[0].messageId, some.isCutOff]).toEqual([1, 12, original, true]);
    expect(await list()).toHaveLength(14);
    expect(await dlq('redrive --limit 1')).toMatch(
      /^Moved 1, kept 12\. Other messages were not read\. Run the same command again to continue with them\.\n/,
    );
    expect(await dlq('redrive --limit 1')).toMatch(/^Moved 1, kept 12\.\n/);
    expect(await list()).toHaveLength(12);
  });

  it('fails if a specified message is missing, and reports the results for the others', async () => {
    const [[one], two] = [await putEvents(1), await put('no JSON')];
    const { code, stderr } = await failing(`redrive ${one} ${two} nope`);
    const expected = `warning: message ${two} was not moved: .*\n.*count 1\nerror: The dead-letter queue has no message nope: "dlq list"`;
    expect([code, stderr]).toEqual([1, expect.stringMatching(expected)]);
    expect(await failing(`redrive ${two} nope --limit 1`)).toMatchObject({ code: 1 });
    const more = await putEvents(3, 4);
    const cutOff = /^Moved 1, kept 0\. Other messages .*\. Run "dlq redrive (\S+) nope" to continue with them\.\n$/;
    const [, left] = cutOff.exec(await dlq(`redrive ${more.join(' ')} nope --limit 1`)) ?? [];
    expect(more).toContain(left);
  });

  it('keeps an event if its account registered the webhook after the event was sent', async () => {
    const sentAt = Date.now() - 3_600_000;
    const origin = { original_message_id: original, original_sent_at: new Date(sentAt).toISOString() };
    const register = (createdAt: number) => operated.put('Webhooks', aWebhook({ accountId: 'late', createdAt }));
    await register(sentAt + 1_000);
    await put(JSON.stringify({ ...event(1), id_conta: 'late' }), origin);
    await put(JSON.stringify({ ...event(2), id_conta: 'without-webhook' }));
    const detail = expect.stringContaining('publish it again');
    expect(await redrive()).toMatchObject({ moved: 1, kept: [{ messageId: original, detail }] });
    await register(sentAt - 1_000);
    expect(await redrive()).toMatchObject({ moved: 1, kept: [] });
  });

  it('keeps a message that would become too large, and moves the others', async () => {
    const largest = JSON.stringify({ ...event(1), note: '' });
    const sized = (bytes: number) => largest.replace('""', `"${'x'.repeat(bytes - largest.length)}"`);
    const tooLarge = await put(sized(maxMessageSize));
    await putEvents(2);
    await put(sized(maxMessageSize - 256));
    const detail = expect.stringMatching(
      /^SQS rejected it: .* shorter than 1040384 bytes\. Ask the publisher to publish it again$/,
    );
    expect(await redrive()).toMatchObject({ moved: 2, kept: [{ messageId: tooLarge, detail }] });
    expect(await list()).toMatchObject([{ messageId: tooLarge, body: sized(maxMessageSize), reason: null, copies: 1 }]);
    expect(await operated.receive('events')).toHaveLength(2);
  });

  it('receives messages that a killed command hid, and messages behind those that stay', async () => {
    // The fake time ends at the real time, because a command warns about a wrong clock.
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: Date.now() - 122_000 });
    for (let index = 0; index < 10; index += 1) await put(`no JSON ${index}`);
    expect(await operated.receive('dead')).toHaveLength(10);
    await put(JSON.stringify(event(1)), {}, 61_000 / 1_000 + 29);
    vi.advanceTimersByTime(61_000);
    const before = ['ReceiveMessage', 2, () => void vi.advanceTimersByTime(61_000)] as const;
    const { kept, ...done } = await operated.under({ before }).json('dlq redrive --rate 1000');
    expect([done, kept.length]).toEqual([{ moved: 1, inFlight: 0, isCutOff: false }, 10]);
  });
});

describe('ops dlq show', () => {
  it('shows a message by its original id, with its body and sender', async () => {
    await put('another');
    await put('no JSON', { ...rejected, sender: 'AROA:x' });
    const message = { messageId: original, body: 'no JSON', sentAt: expect.stringMatching(/^\d{4}-.*Z$/), copies: 1 };
    const shown = { ...message, reason: 'malformed', detail: 'no', sender: 'AROA:x' };
    expect(await operated.json(`dlq show ${original}`)).toEqual(shown);
    expect(await dlq(`show ${original}`)).toMatch(/sender +AROA:x\n.*\n\nno JSON\n$/s);
    expect(await list()).toHaveLength(2);
  });

  it('fails with one line or one JSON object if the message does not exist', async () => {
    const error = expect.stringContaining('The dead-letter queue has no message nope: "dlq list"');
    expect(await failing('show nope')).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^error: .*\n$/) });
    const { stderr } = await failing('show nope --json');
    expect(JSON.parse(stderr)).toEqual({ error, code: 'failed', exitCode: 1 });
  });
});

// However a command ends, it makes the messages that it received visible again.
describe('an interrupted command', () => {
  const continues = (command: string) => ` Run ${command} to continue with the others.`;
  const repeat = continues('the same command again');
  it.each([
    ['dlq list', 'ReceiveMessage', ''],
    ['dlq show nope', 'ReceiveMessage', ''],
    ['events find nope', 'ReceiveMessage', ''],
    ['dlq discard nope', 'ReceiveMessage', continues('"dlq discard nope"')],
    ['dlq discard --reason malformed', 'ReceiveMessage', repeat],
    ['dlq discard ONE TWO', 'DeleteMessage', continues('"dlq discard TWO"')],
    ['dlq redrive ONE TWO', 'pause', continues('"dlq redrive TWO"')], // the command pauses between messages
    ['dlq redrive', 'pause', repeat],
  ])('immediately makes the other messages visible, and reports the remaining ones: %s', async (words, call, left) => {
    operated.logs.put('delivery', 'a line of another kind');
    const listeners = process.listenerCount('SIGINT');
    const [one = '', two = ''] = [...(await putEvents(1)), ...(await putEvents(2)), await put('no JSON')];
    const withIds = (text: string) => text.replace('ONE', one).replace('TWO', two);
    const conditions: Conditions =
      call === 'pause' ? { time: { pause: async () => interrupt() } } : { before: [call, 1, interrupt] };
    const { code, stdout, stderr } = await operated.under(conditions).run(`--yes ${withIds(words)}`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^Stopping after .* Ctrl-C again to stop immediately\.\n/);
    expect(stderr.split('\n')).toContain(withIds(`error: Interrupted.${left}`));
    expect(await list()).toHaveLength(call === 'ReceiveMessage' ? 3 : 2);
    expect(process.listenerCount('SIGINT')).toBe(listeners);
    if (call === 'ReceiveMessage') return;
    const [, line] = await operated.trail(2); // the list also wrote a line, because it shows bodies
    expect(line).toMatchObject({ outcome: 'failed', target: { count: 1 }, parts: [{ messages: [one] }] });
  });

  it('reports a message that SQS rejects during the interruption', async () => {
    await putEvents(...Array.from({ length: 30 }, (_, at) => at + 1));
    const reject = () => {
      interrupt();
      return fail();
    };
    const { code, stderr } = await failing('redrive --rate 1000', { before: ['SendMessage', 2, reject] });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: .*it ended half-way$/m)]);
  });

  it.each(['discard', 'redrive'])('%s succeeds if all specified messages have already been moved', async verb => {
    const [one] = await putEvents(1);
    await put('another');
    const before = [verb === 'discard' ? 'DeleteMessage' : 'SendMessage', 1, interrupt] as const;
    expect(await failing(`${verb} ${one} --yes`, { before })).toMatchObject({ code: 0 });
    expect(await list()).toMatchObject([{ body: 'another' }]);
  });
});

describe('a message that another command has in flight', () => {
  it.each([
    ['list', 0, '', 'warning: another command is reading about 1 dead-letter message'],
    ['list --json', 0, '[]', 'another command is reading about 1 dead-letter message'],
    ['show ID', 1, '', 'another command is reading about 1 dead-letter message'],
    ['discard ID --yes', 1, '', 'another command is reading about 1 dead-letter message'],
    ['discard --reason malformed --yes', 0, 'Discarded 0 messages.', 'warning: another command is reading about'],
    ['redrive', 0, 'Moved 0, kept 0.\n\nAnother command may be reading about 1 more message', ''],
  ])('is not reported as missing: %s', async (words, code, shown, warning) => {
    const id = await put('no JSON', { reason: 'malformed', detail: 'no' });
    expect(await operated.receive('dead')).toHaveLength(1);
    const { stdout, stderr, ...result } = await failing(words.replace('ID', id));
    expect(result).toEqual({ code });
    expect(stdout).toContain(shown);
    expect(stderr).toContain(warning);
    expect(stdout + stderr).not.toMatch(/There are no|"dlq list"/);
  });
});

describe('ops dlq discard', () => {
  it('fails without --yes, and has no effect', async () => {
    const id = await put('no JSON');
    const stderr = expect.stringMatching(
      /^error: This permanently deletes .* from the dead-letter queue .*Add --yes to confirm\.\n$/,
    );
    expect(await failing(`discard ${id}`)).toEqual({ code: 1, stdout: '', stderr });
    expect(await list()).toHaveLength(1);
  });

  it('deletes the specified messages and their copies, counts copies once, and reports missing messages', async () => {
    const [one, two] = [await put('one'), await put('two')];
    for (let copy = 0; copy < 3; copy += 1) await put('again', rejected);
    const three = await put('three');
    await put('stays');
    expect(await operated.json(`dlq discard ${one} ${two} ${original}`)).toEqual({ discarded: 3 });
    const failure = await failing(`discard ${three} nope --yes`);
    const stderr = expect.stringMatching(/these changes: count 1\n.*no message nope/);
    expect(failure).toEqual({ code: 1, stdout: '', stderr });
    expect((await list()).map(({ body }) => body)).toEqual(['stays']);
  });

  it('deletes only messages that were rejected for the specified reason', async () => {
    for (let index = 0; index < 12; index += 1) await put(`no JSON ${index}`, { reason: 'malformed', detail: 'no' });
    await put('unknown', { reason: 'unknown_event', detail: 'no' });
    await put('moved by its queue');
    expect(await operated.json('dlq discard --reason malformed')).toEqual({ discarded: 12 });
    expect((await list()).map(({ body }) => body)).toEqual(['unknown', 'moved by its queue']);
  });
});

it.each([
  ['discard --reason malformed --yes', 'DeleteMessage'],
  ['redrive --rate 1000', 'SendMessage'],
])('ops dlq %s records the id of each moved message in the audit trail, even if it fails', async (words, call) => {
  const body = (index: number) => JSON.stringify(words.startsWith('discard') ? index : event(index));
  const all = Array.from({ length: 152 }, (_, index) => put(body(index + 1), { reason: 'malformed' }));
  const sent = await Promise.all(all);
  const failed = await failing(words, { before: [call, 2, fail] });
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/these changes: count \d+\n.*half-way/) });
  const [half] = await operated.trail();
  const some = half?.parts.flatMap(({ messages = [] }) => messages) ?? [];
  expect(half).toMatchObject({ outcome: 'failed', target: { count: some.length } });
  expect(await failing(words)).toMatchObject({ code: 0 });
  const [line] = await operated.trail();
  const others = line?.parts.flatMap(({ messages = [] }) => messages) ?? [];
  expect(line?.parts.map(({ messages = [] }) => Object(messages).length)[0]).toBe(100);
  expect([...some, ...others].toSorted()).toEqual(sent.toSorted());
});

it.each(['redrive --rate 1000', 'discard --reason unknown_event --yes'])(
  'ops dlq %s warns that it may not have read all messages',
  async words => {
    let received = 0;
    const send = async (command: object) => {
      const { MaxNumberOfMessages: length = 0 } = command instanceof ReceiveMessageCommand ? command.input : {};
      const ids = Array.from({ length }, () => `${++received}`);
      return { Messages: ids.map(id => ({ MessageId: id, ReceiptHandle: id, Body: '0' })) };
    };
    const makeClient: typeof opsRuntime.makeClient = (Service, settings) =>
      Object.assign(opsRuntime.makeClient(Service, settings), Object(Service) === SQSClient && { send });
    const { code, stderr } = await failing(words, { runtime: { makeClient } });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/first 100000 dead-letter messages were read/)]);
  },
);
