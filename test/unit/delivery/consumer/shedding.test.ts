import { beforeEach, describe, expect, it } from 'vitest';
import { makeStage, type Stage, schedule } from '../../../support/stage.ts';
import { answer } from '../builders.ts';

let stage: Stage;

/** A webhook may use 25 slots of a process. */
const share = 25;
const second = 1_000;
const shedLines = () => stage.lines.map(line => JSON.parse(line)).filter(([name]) => name === 'delivery.shed');

beforeEach(async () => {
  stage = makeStage(schedule, 1);
  await stage.register();
});

/** Has a process of a lane receive messages. Their receiver answers just before it would count as slow. */
const receive = async (lane: 'first' | 'retry', messages: number) => {
  const first = lane === 'first' ? [] : Array<ReturnType<typeof answer>>(messages).fill(answer(500));
  stage.answers.push(...first, ...Array(messages).fill({ ...answer(200), takesMs: 1_900 }));
  for (let message = 0; message < messages; message++) stage.publishEvent();
  if (lane === 'first') return;
  await stage.pass(4 * second);
  expect(stage.posts).toHaveLength(messages);
  stage.posts.length = 0;
  await stage.pass(second);
};

describe.each([
  ['first', 'events', { attempt: 1, charged: 0, attempts: [] }],
  ['retry', 'retries', { attempt: 2, charged: 1 }],
] as const)('a message in the %s lane whose webhook uses its whole share', (lane, queue, stored) => {
  it('is shed: it is hidden for a moment, nothing of it is stored, and one line of the log names it', async () => {
    await receive(lane, share + 1);
    await stage.pass(second / 2);
    expect(stage.posts).toHaveLength(share);

    expect(stage.deliveries()).toHaveLength(lane === 'first' ? 0 : share + 1);
    expect(stage.waiting(queue)).toHaveLength(share + 1);
    await stage.settle();
    expect(stage.posts).toHaveLength(share + 1);
    const described = { account: 'conta-1', event: 'demanda.criada', deliveryId: expect.stringMatching(/^evt_/) };
    expect(shedLines()).toMatchObject([['delivery.shed', described]]);
  });

  it('is stored when it comes for the fifth time, and its attempt is made 2 to 4 s later, uncharged', async () => {
    await receive(lane, 8 * share);
    await stage.pass(5 * second);
    const deferred = stage.deliveries().filter(({ wait }) => wait && wait.nextAttemptAt > stage.now());
    expect(deferred.length).toBeGreaterThanOrEqual(share);
    for (const delivery of deferred) expect(delivery).toMatchObject(stored);
    expect(stage.logged('delivery.shed')).toBeGreaterThanOrEqual(deferred.length);
    await stage.settle();
    expect(stage.posts).toHaveLength(8 * share);
    expect(stage.posts.every(({ status }) => status === 200)).toBe(true);
  });
});

it('a message finds the slots again of those that failed', async () => {
  stage.faults.fateOf = ({ operation }) => (operation === 'BatchGet' ? 'request_lost' : 'fine');
  for (let message = 0; message < share; message++) stage.publishEvent();
  await stage.pass(4 * second);
  expect(stage.deferrals()).toHaveLength(share);
  stage.faults.fateOf = undefined;
  await stage.settle();
  expect(stage.posts).toHaveLength(share);
  expect(stage.counts).not.toHaveProperty('MessageShed');
});
