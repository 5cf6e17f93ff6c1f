import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { SQSRecord } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settled, type WaitingDelivery } from '../../../../lambdas/delivery/delivery.ts';
import { makeSlotReservations } from '../../../../lambdas/delivery/isolation/slot-reservations.ts';
import { makeMoveToSlowLane } from '../../../../lambdas/delivery/isolation/slow-lane.ts';
import { makeJudgeTurn } from '../../../../lambdas/delivery/isolation/slow-lane-turn.ts';
import { slownessId } from '../../../../lambdas/delivery/isolation/slow-since.ts';
import { recovered, withDuration, withSlowDns } from '../../../../lambdas/delivery/isolation/slowness.ts';
import { makeSlownessStore } from '../../../../lambdas/delivery/isolation/slowness-store.ts';
import { makeWaitInTable } from '../../../../lambdas/delivery/isolation/wait-in-table.ts';
import { makeAttemptQueue } from '../../../../lambdas/delivery/queues.ts';
import { taskShard } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { makeDeliveryStore } from '../../../../lambdas/delivery/store/delivery-store.ts';
import { makeSlowBacklogTask } from '../../../../lambdas/delivery/sweeper/slow-backlog.ts';
import { broughtForward, waitingForSlot } from '../../../../lambdas/delivery/transitions.ts';
import { makeRetry } from '../../../../lambdas/delivery/worker/retry.ts';
import { makeFindWebhookState } from '../../../../lambdas/delivery/worker/webhook-state.ts';
import { frozenClock } from '../../../support/clock.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';
import { aDelivery, aWebhook, fakeTelemetry, noon } from '../builders.ts';

const second = 1_000;
const tick = 100;
const deadline = 15 * second;
const hangs = Number.POSITIVE_INFINITY;

let database: Database;
beforeAll(async () => {
  database = await startDatabase('Deliveries', 'Webhooks');
});
afterAll(() => database.stop());

let accounts = 0;

interface Message {
  readonly body: string;
  visibleAt: number;
  receives: number;
}

/** The slow lane of one webhook: the units that decide over real tables, a queue, and a receiver; in steps of a tenth of a second. */
const startLane = async (answersIn: (at: number) => number) => {
  const owner = { accountId: `pace-${++accounts}`, eventName: 'demanda.criada' } as const;
  const clock = frozenClock(noon);
  const { now } = clock;
  const telemetry = fakeTelemetry();
  const { dynamo } = database;
  const table = 'Deliveries';
  const store = makeDeliveryStore({ ...clock.time, dynamo, table, historyDays: 30 });
  const slownessStore = makeSlownessStore({ dynamo, table, now, rate: 20 });
  const messages: Message[] = [];
  const put = ({ MessageBody, DelaySeconds = 0 }: { MessageBody: string; DelaySeconds?: number }) =>
    messages.push({ body: MessageBody, visibleAt: now() + DelaySeconds * second, receives: 0 });
  // biome-ignore lint/suspicious/noExplicitAny: the two commands that send
  const send = async ({ input }: any) => {
    for (const entry of input.Entries ?? [input]) put(entry);
    return {};
  };
  const sqs = { send };
  const slow = makeAttemptQueue({ sqs: sqs as never, queueUrl: 'slow', now });
  const slots = {
    reserveSlot: makeSlotReservations(slownessStore, clock.time.turn),
    waitInTable: makeWaitInTable({ ...telemetry, slownessStore, now }),
  };
  const shared = { ...telemetry, ...slots, slownessStore, store, slowRate: 20, now };
  const move = makeMoveToSlowLane({ ...shared, lane: 'first', slowQueue: slow });
  const begun: { readonly id: string; readonly attempt: number; readonly at: number; readonly until: number }[] = [];
  const underWay: { readonly at: number; readonly act: () => Promise<unknown> }[] = [];
  const slowness = () => slownessStore.change(owner, () => undefined);
  const learn = (duration: number) => slownessStore.change(owner, before => withDuration(before, duration, now()));

  const retry = makeRetry({
    ...shared,
    lane: 'slow',
    admit: () => ({ outcome: 'admitted', mayAttempt: true, leave: () => undefined }),
    findWebhookState: makeFindWebhookState(store, { deliveries: table, webhooks: 'Webhooks' }),
    judgeTurn: makeJudgeTurn({ ...shared, lane: 'slow' }),
    replays: { find: async () => undefined },
    moveToDeadLetters: async () => expect.unreachable(),
    sendAgain: async () => false,
    suspensions: { resume: async () => undefined },
    processDelivery: async (delivery, _, storeChange) => {
      const took = Math.min(answersIn(now() - noon), deadline);
      begun.push({ id: delivery.id, attempt: delivery.attempt, at: now() - noon, until: now() - noon + took });
      if (took > 5 * second) underWay.push({ at: now() + 5 * second, act: () => learn(deadline) });
      const end = async () => {
        await storeChange(settled(delivery, took < deadline ? 'delivered' : 'failed', now()));
        await learn(took);
      };
      underWay.push({ at: now() + took, act: end });
    },
  });
  const task = makeSlowBacklogTask({
    ...shared,
    findWebhook: async () => aWebhook(owner),
    queues: { slow, retry: { sendAll: async () => expect.unreachable() } },
  });

  const receive = async (message: Message) => {
    message.receives += 1;
    const attributes = { ApproximateReceiveCount: String(message.receives) };
    const outcome = await retry({ body: message.body, attributes } as unknown as SQSRecord);
    if (typeof outcome === 'object') message.visibleAt = now() + Math.ceil(outcome.hiddenFor / second) * second;
    else messages.splice(messages.indexOf(message), 1);
    return outcome;
  };
  const sweep = async () => {
    const { dueAt } = await slowness();
    if (dueAt !== undefined && Date.parse(dueAt.slice(0, 24)) <= now()) {
      await task({ id: slownessId(owner), dueShard: taskShard, dueAt }, () => true);
    }
  };
  const idOf = (number: number) => `evt_${owner.accountId}_${String(number).padStart(5, '0')}`;
  let events = 0;
  const nextDelivery = () => aDelivery({ ...owner, id: idOf(events++), createdAt: now() });
  const publish = async () => {
    await move(nextDelivery(), await slowness(), store.create);
  };

  await dynamo(new PutCommand({ TableName: 'Webhooks', Item: aWebhook(owner) }));
  await slownessStore.change(owner, before => withSlowDns(before, noon));
  await learn(Math.min(answersIn(0), deadline));
  return {
    telemetry,
    clock,
    messages,
    begun,
    receive,
    publish,
    store,
    slownessStore,
    owner,
    learn,
    slow,
    /** Others take the next slots. */
    takeSlots: async (count: number) => expect(await slownessStore.reserve(await slowness(), count)).toBeDefined(),
    readAll: async () => {
      const ids = Array.from({ length: events }, (_, number) => idOf(number));
      const pages = Array.from({ length: Math.ceil(events / 100) }, (_, page) =>
        ids.slice(page * 100, page * 100 + 100),
      );
      return (await Promise.all(pages.map(store.read))).flat();
    },
    slowness,
    /** Has so many deliveries wait in the table. */
    fill: async (count: number) => {
      await slownessStore.beginWaiting(await slowness());
      for (let from = 0; from < count; from += 50) {
        const some = Array.from({ length: Math.min(50, count - from) }, nextDelivery);
        await Promise.all(some.map(delivery => store.create(waitingForSlot(delivery, now()))));
      }
    },
    /** Lets time pass; `rate` events come a second. */
    run: async (seconds: number, rate = 0) => {
      for (const end = now() + seconds * second; now() < end; clock.advance(tick)) {
        const passed = now() - noon;
        for (const effect of underWay.filter(({ at }) => at <= now())) {
          underWay.splice(underWay.indexOf(effect), 1);
          await effect.act();
        }
        const arrivals = Math.floor(((passed + tick) * rate) / second) - Math.floor((passed * rate) / second);
        for (let arrival = 0; arrival < arrivals; arrival++) await publish();
        if (passed % (60 * second) === 0) await sweep();
        const visible = messages.filter(({ visibleAt }) => visibleAt <= now());
        for (let from = 0; from < visible.length; from += 10) {
          await Promise.all(visible.slice(from, from + 10).map(message => receive(message)));
        }
      }
    },
    underWayAt: (at: number) => begun.filter(attempt => attempt.at <= at && at < attempt.until).length,
    begunIn: (from: number, until: number) => begun.filter(({ at }) => at >= from && at < until).length,
  };
};

type Lane = Awaited<ReturnType<typeof startLane>>;

const eachAttemptIsMadeOnce = ({ begun }: Lane) => {
  const made = begun.map(({ id, attempt }) => `${id} ${attempt}`);
  expect(new Set(made).size).toBe(made.length);
};
const seconds = (from: number, until: number) =>
  Array.from({ length: ((until - from) * second) / tick }, (_, index) => from * second + index * tick);

describe('a receiver that changes its ways', () => {
  // Slots are reserved a minute ahead, at the pace of that moment: 300 attempts were under way at once.
  it('from 2.5 s to hanging has at most 160 attempts under way for at most 20 s, then 60, with a backlog too', async () => {
    const changesAt = 5 * second;
    const lane = await startLane(at => (at < changesAt ? 2_500 : hangs));
    await lane.fill(400);
    await lane.run(55);
    const many = seconds(0, 55).filter(at => lane.underWayAt(at) > 66);
    expect(Math.max(...many.map(lane.underWayAt))).toBeLessThanOrEqual(160);
    expect(Math.min(...many)).toBeGreaterThanOrEqual(changesAt);
    expect(Math.max(...many)).toBeLessThanOrEqual(changesAt + 20 * second);
    expect(lane.begunIn(second, 5 * second)).toBe(4 * 20);
    for (let from = 15; from < 55; from += 10) {
      expect(Math.abs(lane.begunIn(from * second, (from + 10) * second) - 40)).toBeLessThanOrEqual(4);
    }
    eachAttemptIsMadeOnce(lane);
    // What was moved waits in its turn: the longest due comes first.
    const waiting = (await lane.readAll()).filter(({ wait }) => wait !== undefined);
    expect(waiting.map(({ wait }) => wait?.turnAt ?? wait?.nextAttemptAt)).toEqual(waiting.map(() => noon));
  }, 60_000);

  it('again and again gets every event once, and none of its messages is received for ever', async () => {
    const lane = await startLane(at => (at % (20 * second) < 10 * second ? 2_500 : hangs));
    await lane.fill(150);
    let receives = 0;
    for (let minutes = 0; minutes < 3; minutes++) {
      await lane.run(60);
      receives = Math.max(receives, ...lane.messages.map(message => message.receives));
    }
    expect(new Set(lane.begun.map(({ id }) => id)).size).toBe(150);
    expect(receives).toBeLessThanOrEqual(5);
    eachAttemptIsMadeOnce(lane);
  }, 60_000);
});

describe('a delivery whose slot counts no more', () => {
  /** One that has a slot in half a minute, of a webhook that is found to hang meanwhile, and its message. */
  const startMoved = async () => {
    let took = 2_500;
    const lane = await startLane(() => took);
    await lane.takeSlots(600);
    await lane.publish();
    const [message] = lane.messages;
    if (!message) throw new Error('there is no message');
    took = hangs;
    await lane.learn(deadline);
    await lane.takeSlots(40); // of the new series: ten seconds
    lane.clock.advance(30 * second);
    await lane.takeSlots(40); // again: what comes now has its slot in ten seconds
    return { ...lane, message };
  };
  const due = async ({ readAll }: Lane) => (await readAll())[0]?.wait;

  it('is stored with another before its message is hidden, and is attempted then', async () => {
    const lane = await startMoved();
    const { clock, message } = lane;
    const moved = clock.now();
    expect(await lane.receive(message)).toEqual({ hiddenFor: 10 * second });
    const slot = moved + 10 * second;
    expect(await due(lane)).toMatchObject({ nextAttemptAt: slot, slowLane: 'queued', overdueCount: 0, turnAt: noon });
    expect((await due(lane))?.sweepAt).toBeGreaterThan(slot + 60 * second);
    expect((await lane.slowness()).nextSlotAt).toBe(slot + 250);
    expect(lane.begun).toEqual([]);
    clock.set(slot);
    expect(await lane.receive(message)).toBe('processed');
    expect(lane.begun).toMatchObject([{ at: slot - noon }]);
    expect(lane.telemetry.lines.join()).toContain('delivery.slot_moved');
  });

  it('keeps that one where the process dies before it hides the message, or a copy of that comes', async () => {
    const lane = await startMoved();
    const { clock, message } = lane;
    await lane.receive({ ...message }); // a copy, or of a process that dies then
    clock.advance(second);
    const { nextSlotAt } = await lane.slowness();
    expect(await lane.receive(message)).toEqual({ hiddenFor: 9 * second });
    expect((await lane.slowness()).nextSlotAt).toBe(nextSlotAt); // it takes no other
    clock.advance(9 * second);
    await lane.receive(message);
    expect(lane.begun).toHaveLength(1);
  });

  it('waits in the table, in its turn, where the next is over a minute off, or its message came too often', async () => {
    for (const receives of [0, 4]) {
      const lane = await startMoved();
      if (receives === 0) await lane.takeSlots(210);
      lane.message.receives = receives;
      expect(await lane.receive(lane.message)).toBe('processed');
      expect(await due(lane)).toMatchObject({ slowLane: 'waiting', nextAttemptAt: noon });
      expect(await lane.slowness()).toHaveProperty('backlogAt');
      expect(lane.messages).toEqual([]);
    }
  });

  it('is attempted at once where the webhook is quick again, or a resend brought it forward', async () => {
    const quick = await startMoved();
    await quick.slownessStore.change(quick.owner, before => recovered(before, noon));
    expect(await quick.receive(quick.message)).toBe('processed');
    expect(quick.begun).toHaveLength(1);
    const resent = await startMoved();
    const [waiting] = await resent.readAll();
    const next = broughtForward(waiting as WaitingDelivery, resent.clock.now() - 1);
    if (!(waiting && next)) throw new Error('there is nothing to bring forward');
    await resent.store.update(waiting, next);
    await resent.slow.send(next);
    expect(await resent.receive(resent.messages.at(-1) as Message)).toBe('processed');
    expect(resent.begun).toHaveLength(1);
  });
});
