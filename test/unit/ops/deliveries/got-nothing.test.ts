import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readPage, sectionOf } from '../../../support/markdown-page.ts';
import { type OperatedTables, startOperatedTables } from '../../../support/operated-tables.ts';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { answer, noon } from '../../delivery/builders.ts';

// "I got nothing since yesterday": nothing is known but the account and the day. Each cause is played by the functions' own code,
// and what the commands print then has the words by which the runbook tells what to do.

let operated: OperatedTables;
let stage: Stage;
let told = 0;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: noon - 7 * day });
  [stage, operated, told] = [makeStage(), await startOperatedTables(), 0];
});

afterEach(async () => {
  vi.useRealTimers();
  await operated.stop();
});

const hour = 3_600_000;
const day = 24 * hour;

/** An event of the account, taken up and attempted once. */
const publish = async (changes: object = {}) => {
  stage.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7, id: 'demand-7', ...changes });
  await stage.pass(100);
};

/** Hands on what the functions wrote, as of now. */
const writeLogs = () => {
  vi.setSystemTime(stage.now());
  for (const line of stage.lines.slice(told)) {
    const [message, fields = {}] = JSON.parse(line);
    operated.logs.put('delivery', JSON.stringify({ message, ...fields }));
  }
  told = stage.lines.length;
};

/** Puts what the functions have stored where the commands find it. */
const storeItems = async () => {
  for (const TableName of ['Deliveries', 'Webhooks']) {
    await operated.put(TableName, ...stage.tables.items(TableName));
  }
};

/** Prints what the operator sees a day later: the command, and its answer. */
/** The table above the notes. */
const rowsOf = (stdout: string): readonly string[] => (stdout.split('\n\n')[0] ?? '').split('\n');

const ask = async (...args: string[]): Promise<string> => {
  await storeItems();
  vi.setSystemTime(noon + day - hour);
  const { code, stdout, stderr } = await operated.run(...args);
  expect([code, stderr]).toEqual([0, '']);
  if (stdout.startsWith('AT ')) expect(rowsOf(stdout).filter(line => line.length > 120)).toEqual([]);
  return `$ ops ${args.join(' ')}\n${stdout.trimEnd().replaceAll('\n    ', ' ')}`; // a reason is below its row
};

interface Cause {
  readonly play: () => Promise<unknown>;
  /** The words of each answer that name the cause. */
  readonly named: readonly RegExp[];
}

const eventsOf = ['events', 'list', '--account', 'conta-1', '--since', '24h'] as const;
const webhooksOf = ['webhooks', 'list', '--account', 'conta-1'] as const;

const causes: Readonly<Record<string, Cause>> = {
  'There was no webhook': {
    play: () => publish(),
    named: [/no webhook +at .* account conta-1 had no webhook for demanda\.criada/, /No such webhooks/],
  },
  'The receiver fails': {
    play: async () => {
      await stage.register();
      stage.answers.push(...[1, 2, 3, 4].map(() => ({ ...answer(503, {}, 'Closed for maintenance'), takesMs: 12 })));
      await publish();
      await stage.settle();
    },
    named: [/failed +attempt 4 at .*: http, status 503/, /2026-11-20T12:00:00.012Z/, /Closed for maintenance/],
  },
  'The webhook is suspended': {
    play: async () => {
      await stage.register();
      stage.answers.push(answer(410));
      await publish();
    },
    named: [/held +its webhook is suspended: gone\./, /suspended \(suspenso\) +gone/],
  },
  'Its events are held still': {
    play: async () => {
      await stage.register();
      stage.answers.push(answer(410));
      await publish();
      await stage.pass(hour);
      await stage.webhooks.reactivate('conta-1', 'demanda.criada', stage.now());
    },
    named: [/held +its webhook was suspended and is active again: run "deliveries resend" or "deliveries replay"/],
  },
  'The receiver is slow': {
    play: async () => {
      await stage.register();
      await stage.slowDown();
      stage.answers.push({ ...answer(200), takesMs: 10_000 });
      await publish();
    },
    named: [/pending .*Its receiver has been slow since 2026-11-20T12:00:00\.000Z/, / +- +2026-11-20T12:00:00\.000Z$/],
  },
  'It was delivered after all': {
    play: async () => {
      await stage.register();
      stage.answers.push({ ...answer(500, {}, 'Oops'), takesMs: 12 }, { ...answer(204), takesMs: 12 });
      await publish();
      await stage.pass(5_000);
    },
    named: [
      /delivered +attempt 2 at .*: delivered \(entregue\), status 204/,
      /active \(ativo\)/,
      /response to attempt 1:\nOops/,
    ],
  },
  'The message was no event': {
    play: async () => {
      await stage.register();
      await publish({ id_demanda: '7' });
    },
    named: [/rejected +its message (\S+) was rejected at .* as malformed \(id_demanda: .*"dlq show \1"/],
  },
  'Nothing was published': {
    play: () => stage.register(),
    named: [/No events for account conta-1 since.*\("dlq list"\)\.\n/, /active \(ativo\)/],
  },
  'It stands in our own queue': {
    play: () => operated.send('events', '{}'),
    named: [/No events for .* About 1 message waits in the events queue, and the account's may be among them/],
  },
};

describe('"I got nothing since yesterday"', () => {
  /** A verdict, if there is one, and the words of its reason: `no webhook` and `had no webhook for`. */
  const described = [
    ...sectionOf(readPage('docs/runbook.md'), 'Why was this event not delivered?').matchAll(
      /^- (?:`([a-z ]+)`, )?`([^`]+ [^`]+)`:/gm,
    ),
  ].map(([, verdict = '', reason = '']) => [verdict, reason]);

  it.each(Object.entries(causes))('%s: three commands at most say so, as the runbook does', async (_, cause) => {
    await cause.play();
    writeLogs();
    const printed = [await ask(...eventsOf)];
    if (cause.named.length > 1) printed.push(await ask(...webhooksOf));
    if (cause.named.length > 2) {
      const [id = ''] = /evt_[A-Za-z0-9_-]{27}/.exec(printed[0] ?? '') ?? [];
      printed.push(await ask('deliveries', 'show', id));
    }
    expect(printed.length).toBeLessThanOrEqual(3);
    for (const [at, words] of cause.named.entries()) expect(printed[at]).toMatch(words);
    expect(described.filter(words => words.every(word => printed[0]?.includes(word)))).toHaveLength(1);
  });

  it('lists an event that waits for a fault of the service to pass: no table holds it', async () => {
    await stage.register();
    const at = noon + hour;
    vi.setSystemTime(at);
    const deferred = { message: 'message.deferred', messageId: 'm', deliveryId: `evt_${'x'.repeat(27)}`, seconds: 40 };
    operated.logs.put('delivery', JSON.stringify({ ...deferred, account: 'conta-1', event: 'demanda.criada' }));
    operated.logs.put('delivery', JSON.stringify({ ...deferred, account: 'other', event: 'demanda.criada' }));
    expect((await ask(...eventsOf)).match(/pending +at .* internal error/g)).toHaveLength(1);
  });

  it('lists one event once, however often its message was deferred before it was stored', async () => {
    await stage.register();
    await publish();
    const [stored] = stage.deliveries();
    const deferred = { message: 'message.deferred', messageId: 'm', deliveryId: stored?.id, seconds: 40 };
    for (let times = 0; times < 3; times++)
      operated.logs.put('delivery', JSON.stringify({ ...deferred, account: 'conta-1' }));
    writeLogs();
    expect((await ask(...eventsOf)).match(/evt_/g)).toHaveLength(1);
  });

  it('says how far back it looked, and whether there is more', async () => {
    await stage.register();
    for (const id of ['a', 'b', 'c']) await publish({ id });
    writeLogs();
    const all = await ask('events', 'list', '--account', 'conta-1', '--since', '90d', '--limit', '2');
    expect(all).toContain('Deliveries are listed since 2026-08-23T11:00:00.000Z');
    expect(all).toContain('from the log, since 2026-11-13T12:00:00.000Z (older logs are deleted)');
    expect(all).toContain('Only the latest 2 are shown. A larger --limit shows more.');
    const latest = await ask('events', 'list', '--account', 'conta-1');
    expect(latest).toContain('Deliveries are listed since 2026-11-20T11:00:00.000Z'); // 24 hours
  });
});
