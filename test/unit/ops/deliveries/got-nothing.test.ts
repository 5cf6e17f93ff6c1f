import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deliveryIdOf } from '../../../../lambdas/delivery/intake/event.ts';
import { readPage, sectionOf } from '../../../support/markdown-page.ts';
import { type OperatedTables, startOperatedTables } from '../../../support/operated-tables.ts';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { aResponse, noon } from '../../delivery/builders.ts';

// An operator knows only the account and the day ("I got nothing since yesterday"). The code of the functions reproduces each
// cause, and the output of the commands contains the words that the runbook explains.

let operated: OperatedTables;
let stage: Stage;
let reported = 0;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: noon - 7 * day });
  [stage, operated, reported] = [makeStage(), await startOperatedTables(), 0];
});

afterEach(async () => {
  vi.useRealTimers();
  await operated.stop();
});

const hour = 3_600_000;
const day = 24 * hour;

/** Publishes an event, and waits for its first attempt. */
const publish = async (changes: object = {}) => {
  stage.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7, id: 'demand-7', ...changes });
  await stage.pass(100);
};

/** Copies the functions' new log lines to the commands' log. */
const writeLogs = () => {
  vi.setSystemTime(stage.now());
  for (const line of stage.lines.slice(reported)) {
    const [message, fields = {}] = JSON.parse(line);
    operated.logs.put('delivery', JSON.stringify({ message, ...fields }));
  }
  reported = stage.lines.length;
};

/** Copies the functions' items to the commands' tables. */
const storeItems = async () => {
  for (const TableName of ['Deliveries', 'Webhooks']) {
    await operated.put(TableName, ...stage.tables.items(TableName));
  }
};

/** Runs a command almost a day later. Returns the command and its output. */
const json = async (...args: string[]): Promise<string> => {
  await storeItems();
  vi.setSystemTime(noon + day - hour);
  const { code, stdout, stderr } = await operated.run(...args);
  expect([code, stderr]).toEqual([0, '']);
  const [table = ''] = stdout.split('\n\n');
  if (stdout.startsWith('AT ')) expect(table.split('\n').filter(line => line.length > 120)).toEqual([]);
  return `$ ops ${args.join(' ')}\n${stdout.trimEnd().replaceAll('\n    ', ' ')}`; // each reason is printed below its row
};

/** Registers a webhook, sets the responses of its receiver, and publishes an event. */
const deliver = async (responses: Parameters<typeof stage.answers.push>, changes: object = {}) => {
  await stage.register();
  stage.answers.push(...responses);
  await publish(changes);
};
const delayed = (...args: Parameters<typeof aResponse>) => ({ ...aResponse(...args), takesMs: 12 });

const eventsOf = ['events', 'list', '--account', 'conta-1', '--since', '24h'] as const;
const webhooksOf = ['webhooks', 'list', '--account', 'conta-1'] as const;

/** The causes, with the words in the output of each command. */
const causes: readonly [string, () => Promise<unknown>, ...RegExp[]][] = [
  [
    'There was no webhook',
    () => publish(),
    /no webhook +at .* account conta-1 had no webhook for demanda\.criada/,
    /No such webhooks/,
  ],
  [
    'The receiver fails',
    () => deliver(Array(4).fill(delayed(503, {}, 'Closed for maintenance'))).then(stage.settle),
    /failed +attempt 4 at .*: http, status 503/,
    /2026-11-20T12:00:00.012Z/,
    /Closed for maintenance/,
  ],
  [
    'The webhook is suspended',
    () => deliver([aResponse(410)]),
    /held +its webhook is suspended: gone\./,
    /suspended \(suspenso\) +gone/,
  ],
  [
    'Its events are still held',
    async () => {
      await deliver([aResponse(410)]);
      await stage.pass(hour);
      await stage.webhooks.reactivate('conta-1', 'demanda.criada', stage.now());
    },
    /held +its webhook was suspended and is active again: run "deliveries resend" or "deliveries replay"/,
  ],
  [
    'The receiver is slow',
    async () => {
      await stage.slowDown();
      await deliver([{ ...aResponse(200), takesMs: 10_000 }]);
    },
    /pending .*Its receiver has been slow since 2026-11-20T12:00:00\.000Z/,
    / +- +2026-11-20T12:00:00\.000Z$/,
  ],
  [
    'It was delivered on a retry',
    () => deliver([delayed(500, {}, 'Oops'), delayed(204)]).then(() => stage.pass(5_000)),
    /delivered +attempt 2 at .*: delivered \(entregue\), status 204/,
    /active \(ativo\)/,
    /response to attempt 1:\nOops/,
  ],
  [
    'The message was not an event',
    () => deliver([], { id_demanda: '7' }),
    /rejected +its message (\S+) was rejected at .* as malformed \(id_demanda: .*"dlq show \1"/,
  ],
  [
    'No event was published',
    () => stage.register(),
    /No events for account conta-1 since.*\("dlq list"\)\.\n/,
    /active \(ativo\)/,
  ],
  [
    'It is in the events queue',
    () => operated.send('events', '{}'),
    /No events for .* About 1 message waits in the events queue, and the account's may be among them/,
  ],
];

describe('"I got nothing since yesterday"', () => {
  /** The verdicts, if any, with words from their reasons, such as `no webhook` and `had no webhook for`. */
  const described = [
    ...sectionOf(readPage('docs/runbook.md'), 'Why was this event not delivered?').matchAll(
      /^- (?:`([a-z ]+)`, )?`([^`]+ [^`]+)`:/gm,
    ),
  ].map(([, verdict = '', reason = '']) => [verdict, reason]);

  it.each(causes)('%s: at most three commands show it, in the words of the runbook', async (_, act, ...expected) => {
    await act();
    writeLogs();
    const printed = [await json(...eventsOf)];
    if (expected.length > 1) printed.push(await json(...webhooksOf));
    if (expected.length > 2) {
      const [id = ''] = /evt_[A-Za-z0-9_-]{27}/.exec(printed[0] ?? '') ?? [];
      printed.push(await json('deliveries', 'show', id));
    }
    for (const [at, words] of expected.entries()) expect(printed[at]).toMatch(words);
    expect(described.filter(words => words.every(word => printed[0]?.includes(word)))).toHaveLength(1);
  });

  it.each([
    ['its first message', []],
    ['the message of a later attempt', [aResponse(500)]],
  ])('lists and finds an event that waits during an outage of the store by %s', async (_message, earlier) => {
    await stage.register();
    stage.answers.push(...earlier);
    if (earlier.length > 0) await publish();
    stage.faults.outcomeOf = ({ service }) => (service === 'dynamodb' ? 'failed' : 'fine');
    if (earlier.length === 0) await publish();
    await stage.pass(6_000);
    writeLogs();
    const ofAnother = { message: 'message.deferred', messageId: 'm', account: 'other', seconds: 40 };
    operated.logs.put('delivery', JSON.stringify(ofAnother));
    const { events } = await operated.json('events list --account conta-1');
    const deliveryId = deliveryIdOf('conta-1', 'demanda.criada', 'demand-7');
    const waits = { verdict: 'pending', deliveryId, why: expect.stringContaining('internal error') };
    expect(events).toMatchObject([{ ...waits, evento: 'demanda.criada' }]);
    for (const id of [deliveryId, events[0].messageId])
      expect(await operated.json('events', 'find', id)).toMatchObject({ ...waits, messageId: events[0].messageId });
  });

  it('reports an invalid message as pending while the function cannot reject it', async () => {
    stage.faults.outcomeOf = ({ operation }) => (operation === 'SendMessage' ? 'failed' : 'fine');
    const messageId = stage.publish('no event');
    await stage.pass(100);
    writeLogs();
    expect(await operated.json(`events find ${messageId}`)).toMatchObject({ verdict: 'pending', messageId });
  });

  it('reports the start of its search, and whether there are more events', async () => {
    await stage.register();
    for (const id of ['a', 'b', 'c']) await publish({ id });
    writeLogs();
    const all = await json('events', 'list', '--account', 'conta-1', '--since', '90d', '--limit', '2');
    expect(all).toContain('Deliveries are listed since 2026-08-23T11:00:00.000Z');
    expect(all).toContain('from the log, since 2026-11-13T12:00:00.000Z (older logs are deleted)');
    expect(all).toContain('Only the latest 2 are shown. Use a larger --limit to see more.');
    const latest = await json('events', 'list', '--account', 'conta-1');
    expect(latest).toContain('Deliveries are listed since 2026-11-20T11:00:00.000Z'); // 24 hours
  });
});
