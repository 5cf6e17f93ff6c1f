import { ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeRefusalCounts, makeRefusalTotals } from '../../../../lambdas/delivery/refusals/refusal-counts.ts';
import type { RefusalNotice, SuppressedRefusals } from '../../../../lambdas/delivery/refusals/refusal-notice.ts';
import { makeRefusalNotices } from '../../../../lambdas/delivery/refusals/refusal-notices.ts';
import { makeSuppressedRefusalsTask } from '../../../../lambdas/delivery/refusals/suppressed-refusals.ts';
import type { Dynamo } from '../../../../lambdas/platform/aws/dynamo.ts';
import { type DeliveryWorld, makeDeliveryWorld } from '../../../support/delivery-world/delivery-world.ts';
import { everyCrash } from '../../../support/delivery-world/every-crash.ts';
import { fakeTelemetry } from '../builders.ts';

let world: DeliveryWorld;
const begin = () => {
  world = makeDeliveryWorld();
};
beforeEach(begin);

const minute = 60_000;
const whole = { id_conta: 'c', event: 'demanda.criada', id_demanda: 7 };
const notice = (changes: Partial<RefusalNotice> = {}): RefusalNotice => ({
  messageId: 'message-1',
  id: null,
  sender: 'AROAPUBLISHER:one',
  reason: 'malformed',
  detail: 'no JSON',
  ...changes,
});
const isCount = (told: RefusalNotice | SuppressedRefusals): told is SuppressedRefusals => 'suppressed' in told;
const toldOneByOne = () => world.notices.filter(told => !isCount(told));
const toldByCount = () => world.notices.filter(isCount);

/** Publishes this many refused messages at once, and has each handled by a process of its own. */
const refuse = async (times: number, sender?: string, message: object | string = 'no JSON') => {
  for (let sent = 0; sent < times; sent++) world.publish(message, {}, sender);
  for (let sent = 0; sent < times; sent++) await world.step('first');
};

/** Lets the minute go by after which the rest is told, and two sweeps look for that. */
const tellCounts = async () => {
  await world.pass(minute + 5_000);
  await world.sweep();
  await world.sweep();
};

describe('a refused event', () => {
  it('is told to its publisher: message id, own id, sender, reason and detail', async () => {
    const messageId = world.publish({ ...whole, id: 'demand-7', id_demanda: 'seven' });
    await world.step('first');
    expect(world.notices).toEqual([
      {
        messageId,
        id: 'demand-7',
        sender: 'AROAPUBLISHER:one',
        reason: 'malformed',
        detail: 'id_demanda: must be a whole number from 1 to 2^53 - 1',
      },
    ]);
  });

  it('is told under the message id that its publisher got, though an operator sent it again', async () => {
    world.publish('no JSON', { original_message_id: '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f' });
    await world.step('first');
    expect(world.notices).toMatchObject([{ messageId: '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f' }]);
  });

  it.each([
    ['no JSON', '{"id":"x"', null],
    ['no object', '["x"]', null],
    ['no id', { event: 'x' }, null],
    ['a number as id', { event: 'x', id: 5 }, null],
    ['an object as id', { event: 'x', id: { secreto: 1 } }, null],
    ['an empty id', { event: 'x', id: '' }, ''],
    ['an id of 128 characters', { event: 'x', id: '😀'.repeat(128) }, '😀'.repeat(128)],
    ['a longer id: it is cut to 128 characters', { event: 'x', id: '😀'.repeat(200_000) }, '😀'.repeat(128)],
    ['an id of half a character', { event: 'x', id: '\ud83d' }, '\ud83d'],
    ['an id that SQS takes escaped only', '{"event":"x","id":"\\ufffe"}', '\ufffe'],
  ])('with %s', async (_case, message, id) => {
    world.publish(message);
    await world.step('first');
    expect(world.notices).toMatchObject([{ id }]);
    expect(world.published[0]?.Message).toMatch(/^[ -~]+$/);
  });

  it('is in no notice and no line of the log with anything else of its body or attributes', async () => {
    const canary = 'Canary8F2C';
    const body = { [canary]: canary, id_conta: `${canary} `, id_demanda: canary, autorizacao: canary, link: canary };
    const original_message_id = `ana@example.com ${canary}`; // anybody can write attributes
    for (const event of [canary, 'demanda.criada', 5]) world.publish({ ...body, event }, { original_message_id });
    for (let message = 0; message < 3; message++) await world.step('first');
    expect(world.notices).toHaveLength(3);
    expect(JSON.stringify([world.notices, world.lines])).not.toContain(canary);
  });

  it('names its account and its event in the log, where they can be ones: operators list what came for an account', async () => {
    world.publish({ id_conta: 'conta-1', event: 'demanda.criada' });
    await world.step('first');
    const refused = world.lines.find(line => line.includes('event.refused'));
    expect(refused).toContain('"account":"conta-1","event":"demanda.criada"');
    expect(JSON.stringify(world.notices)).not.toContain('conta-1');
  });

  it.each([0, 2, 3])(
    'is told only once it is stored, and one dead letter, though its process dies at its call %i: its batch may last much longer',
    async afterCalls => {
      world.publish('no JSON');
      expect(await world.step('first', { afterCalls, hasEffect: false })).toBe(true);
      expect(world.notices.length).toBeLessThanOrEqual(world.deadLetters().length);
      await world.settle();
      expect(world.deadLetters()).toHaveLength(1);
    },
  );

  it('stays refused and acknowledged while the topic is down, which is counted and logged', async () => {
    world.topic.isDown = true;
    await refuse(2);
    expect(world.deadLetters()).toHaveLength(2);
    expect(await world.step('first')).toBe(false);
    expect(world.counts).toEqual({ DeadLettered: 2, RefusalNotTold: 2 });
    expect(world.lines.filter(line => line.includes('refusal.not_told'))).toHaveLength(2);
  });
});

describe('the eleventh of a minute, of one principal and reason', () => {
  const count = (changes: Partial<SuppressedRefusals> = {}) => ({
    sender: 'AROAPUBLISHER',
    reason: 'malformed',
    suppressed: 3,
    since: '2026-11-20T12:00:00.000Z',
    until: '2026-11-20T12:01:00.000Z',
    ...changes,
  });

  it('is kept back, with those after it, and told by one count after the minute', async () => {
    await refuse(13);
    expect(world.notices).toHaveLength(10);
    await world.sweep();
    expect(world.notices).toHaveLength(10);
    await tellCounts();
    expect(toldByCount()).toEqual([count()]);
    expect(world.items().filter(({ dueAt }) => dueAt !== undefined)).toEqual([]);
  });

  it('is counted apart for other principals and other reasons, and with other sessions of its role', async () => {
    await refuse(11, 'AROAPUBLISHER:one');
    await refuse(2, 'AROAPUBLISHER:two');
    await refuse(11, 'AIDAUSER');
    await refuse(11, 'AROAPUBLISHER:one', { ...whole, event: 'x' });
    expect(toldOneByOne()).toHaveLength(30);
    await tellCounts();
    expect(
      toldByCount().toSorted(
        (one, other) => one.suppressed - other.suppressed || one.sender.localeCompare(other.sender),
      ),
    ).toEqual([
      count({ suppressed: 1, sender: 'AIDAUSER' }),
      count({ suppressed: 1, reason: 'unknown_event' }),
      count({ suppressed: 3 }),
    ]);
  });

  it('of the next minute is another', async () => {
    await refuse(11);
    await world.pass(minute);
    await refuse(10);
    expect(toldOneByOne()).toHaveLength(20);
    await world.pass(2 * minute);
    await world.sweep();
    expect(toldByCount()).toEqual([count({ suppressed: 1 })]);
  });

  it('is told by a later sweep where the topic is down, without failing one, and by that once', async () => {
    await refuse(13);
    await world.pass(minute + 5_000);
    world.topic.isDown = true;
    expect(await world.sweep()).toBe(true);
    expect(world.counts).toMatchObject({ RefusalNotTold: 1 });
    world.topic.isDown = false;
    await world.pass(minute);
    await world.sweep();
    await world.pass(minute);
    await world.sweep();
    expect(toldByCount()).toEqual([count()]);
  });

  // Its first 17 calls look for what is due, the next one for announcements.
  it.each([
    ['finds the task', 16, 1],
    ['reads it', 18, 1],
    ['reads what each process kept back', 19, 1],
    ['marks it as told, before that', 20, 1, false],
    ['marks it as told, after that', 20, 0, true],
    ['tells, before that', 21, 0, false],
    ['tells, after that', 21, 1, true],
  ])(
    'is told no more than once though the sweeper dies when it %s',
    async (_step, afterCalls, told, hasEffect = true) => {
      await refuse(13);
      await world.pass(minute + 5_000);
      expect(await world.sweep({ afterCalls, hasEffect })).toBe(false);
      await world.sweep();
      await world.sweep();
      expect(toldByCount()).toEqual(told === 1 ? [count()] : []);
    },
  );

  // Bug: the mark stayed, and nobody was told of the sum, nor was that counted.
  it.each([
    ['is told by the next sweep where the answer to its mark was lost', 1, {}],
    ['is counted as untold where that mark cannot be taken back', 2, { RefusalNotTold: 1 }],
  ])('%s', async (_case, faults, counts) => {
    await refuse(13);
    await world.pass(minute + 5_000);
    const { Items = [] } = await world.dynamo(new ScanCommand({ TableName: 'Deliveries' }));
    const [due = {}] = Items.filter(item => item.late !== undefined);
    let updates = 0;
    const dynamo: Dynamo = async command => {
      if (!(command instanceof UpdateCommand) || ++updates > faults) return world.dynamo(command);
      if (updates === 1) await world.dynamo(command);
      throw new Error('TimeoutError');
    };
    const telemetry = fakeTelemetry();
    const totals = makeRefusalTotals({ dynamo, table: 'Deliveries', random: Math.random });
    const publish = async () => undefined;
    const task = makeSuppressedRefusalsTask({ totals, publish, now: world.now, ...telemetry });
    await expect(task({ id: due.id, dueShard: due.dueShard, dueAt: due.dueAt }, () => true)).rejects.toThrow(
      'TimeoutError',
    );
    expect(telemetry.counts).toEqual(counts);
    await world.sweep();
    expect(toldByCount()).toEqual(faults === 1 ? [count()] : []);
  });

  it('is counted once where each write is repeated because its answer was lost', async () => {
    world.table.repeatsUpdates = true;
    await refuse(13);
    await refuse(2, 'AIDAUSER');
    expect(toldOneByOne()).toHaveLength(12);
    await tellCounts();
    expect(toldByCount()).toEqual([count()]);
  });

  it('is told once, comes again, or dies with its process, wherever that dies', () =>
    everyCrash(async crash => {
      begin();
      await refuse(12);
      world.publish('no JSON');
      await world.step('first', crash);
      await world.settle();
      const suppressed = toldByCount().reduce((sum, told) => sum + told.suppressed, 0);
      expect([2, 3]).toContain(suppressed + toldOneByOne().length - 10);
    }));
});

describe('a flood of refused events', () => {
  const stored = () => ({ dynamo: world.dynamo, table: 'Deliveries', now: world.now, random: Math.random });
  /**
   * The notices of a process that refuses messages at once.
   *
   * @param calls - takes what is asked of the table: how many notices are claimed, and how many are kept back by then.
   */
  const flood = (
    messages: number,
    publish: (told: RefusalNotice) => Promise<void>,
    { calls = [], table = stored() }: { calls?: object[]; table?: ReturnType<typeof stored> } = {},
  ) => {
    const counts = makeRefusalCounts(table);
    const telemetry = fakeTelemetry();
    const claim: typeof counts.claim = (group, claimed, wanted) => {
      calls.push({ wanted });
      return counts.claim(group, claimed, wanted);
    };
    const keepBack: typeof counts.keepBack = (group, keptBack, isTask) => {
      calls.push({ keptBack });
      return counts.keepBack(group, keptBack, isTask);
    };
    const refusals = makeRefusalNotices({
      ...telemetry,
      counts: { ...counts, claim, keepBack },
      publish: publish as never,
      now: world.now,
    });
    const take = (more: number) => {
      for (let message = 0; message < more; message++) refusals.add(notice({ messageId: `m-${message}` }));
    };
    take(messages);
    return { refusals, take, telemetry };
  };

  it('costs four writes for a batch, and ten notices a minute: the first ten', async () => {
    const told: string[] = [];
    const calls: object[] = [];
    const { refusals } = flood(1_000, async ({ messageId }) => void told.push(messageId), { calls });
    await refusals.settled();
    expect(calls).toEqual([{ wanted: 1 }, { wanted: 9 }, { keptBack: 990 }]);
    expect(told).toEqual(Array.from({ length: 10 }, (_, message) => `m-${message}`));
  });

  // It was 3 to 11 of 15, and 224 of 290: what came within a second of the last count waited for a later invocation.
  it.each([
    [25, 1, 1],
    [25, 5, 5],
    [300, 12, 1],
    [300, 12, 25],
    [300, 300, 1],
  ])(
    'of %i messages in %i processes, %i at a time, is counted to the last though no process runs again',
    async (all, processes, batch) => {
      let told = 0;
      await Promise.all(
        Array.from({ length: processes }, async () => {
          const { refusals, take } = flood(0, async () => void told++);
          for (let left = all / processes; left > 0; left -= batch) {
            take(Math.min(batch, left));
            await refusals.settled();
          }
        }),
      );
      expect(told).toBe(10);
      await tellCounts();
      expect(toldByCount()).toMatchObject([{ suppressed: all - 10 }]);
    },
  );

  it('is counted once a second while messages are at work, after its notices, and when they are done', async () => {
    const calls: object[] = [];
    const { refusals } = flood(20, async () => {}, { calls });
    await refusals.settled();
    expect(calls.splice(0)).toEqual([{ wanted: 1 }, { wanted: 9 }, { keptBack: 10 }]);
    for (let message = 0; message < 200; message++) {
      refusals.add(notice());
      await new Promise(setImmediate);
      await world.pass(10);
    }
    expect(calls.length).toBeLessThanOrEqual(3); // two seconds have passed
    await refusals.settled();
    expect(calls.at(-1)).toEqual({ keptBack: 210 });
  });

  it('is counted to the last where a count was stored after the sweeper had added all', async () => {
    const counts = makeRefusalCounts(stored());
    const minuteOf = { principal: 'AROAPUBLISHER', reason: 'malformed', beganAt: world.now() } as const;
    expect(await counts.claim(minuteOf, counts.noneClaimed(), 10)).toEqual({ own: 10, free: [] });
    await counts.keepBack(minuteOf, 2, false);
    await world.pass(minute + 5_000);
    await world.sweep();
    await counts.keepBack(minuteOf, 6, true); // its write took all that time
    await counts.keepBack(minuteOf, 2, true); // and an earlier one even more
    await world.sweep();
    await world.sweep();
    expect(toldByCount()).toMatchObject([{ suppressed: 2 }, { suppressed: 4 }]);
  });

  it('is waited for by nobody while the topic hangs: counts go on', async () => {
    const hanging = Promise.withResolvers<void>();
    const calls: object[] = [];
    const { refusals } = flood(15, () => hanging.promise, { calls });
    let isSettled = false;
    const settled = refusals.settled().then(() => {
      isSettled = true;
    });
    await expect.poll(() => calls).toEqual([{ wanted: 1 }, { wanted: 9 }, { keptBack: 5 }]);
    expect(isSettled).toBe(false);
    hanging.resolve();
    await settled;
  });

  it('that cannot be counted is told by ten before the invocation ends, and by the count once that can be stored', async () => {
    const told: string[] = [];
    let isDown = true;
    const dynamo: Dynamo = async command => {
      if (isDown) throw new Error('the table is down');
      return world.dynamo(command);
    };
    const publish = async ({ messageId }: RefusalNotice) => void told.push(messageId);
    const { refusals, take, telemetry } = flood(3, publish, { table: { ...stored(), dynamo } });
    await refusals.settled();
    expect(told).toEqual(['m-0', 'm-1', 'm-2']);
    expect(telemetry.counts).toEqual({});
    await world.pass(1_000);
    take(17);
    await refusals.settled();
    expect(told).toHaveLength(10);
    await world.pass(1_000);
    await refusals.settled();
    expect(telemetry.counts).toEqual({ RefusalNotTold: 10 });
    expect(telemetry.lines.filter(line => line.includes('refusal.not_counted'))).toHaveLength(3);
    isDown = false;
    await world.pass(1_000);
    take(1);
    await refusals.settled();
    expect(told).toHaveLength(10);
    expect(telemetry.counts).toEqual({ RefusalNotTold: 10 });
    await tellCounts();
    expect(toldByCount()).toMatchObject([{ suppressed: 11 }]);
  });

  it('is never told as more than came while no answer of the table comes, and its writes are made all the same', async () => {
    let told = 0;
    const dynamo: Dynamo = async command => {
      await world.dynamo(command);
      throw new Error('TimeoutError');
    };
    for (let process = 0; process < 4; process++) {
      const { refusals } = flood(4, async () => void told++, { table: { ...stored(), dynamo } });
      for (let invocation = 0; invocation < 3; invocation++) {
        await world.pass(1_000);
        await refusals.settled();
      }
    }
    await tellCounts();
    expect(told + toldByCount().reduce((sum, { suppressed }) => sum + suppressed, 0)).toBe(16);
  });
});
