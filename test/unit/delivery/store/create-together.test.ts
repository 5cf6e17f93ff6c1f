import { BatchExecuteStatementCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { type Delivery, settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeDeliveryStore } from '../../../../lambdas/delivery/store/delivery-store.ts';
import { frozenClock } from '../../../support/clock.ts';
import { startDatabase } from '../../../support/database/database.ts';
import { amount } from '../../../support/sample.ts';
import { aDelivery, aRecord, noon } from '../builders.ts';

const database = await startDatabase('Deliveries');
afterAll(() => database.stop());

const clock = frozenClock();
beforeEach(() => clock.set(noon));

let idCount = 0;
const newId = () => `evt_${String(++idCount).padStart(27, '0')}`;
const outcome = (id = newId(), text = 'own'): Delivery =>
  settled(aDelivery({ id, attempt: 2, charged: 1, attempts: [aRecord({ response: text })] }), 'delivered', clock.now());
const outcomes = (count: number) => Array.from({ length: count }, () => outcome());

type Fault = (input: Statements, write: (input: Statements) => Promise<BatchOutput>) => Promise<BatchOutput>;
type Statements = { Statements: readonly { Parameters: readonly unknown[] }[] };
type BatchOutput = { Responses?: object[]; $metadata?: object };
const named = (name: string) => Object.assign(new Error(name), { name });
const faults = {
  answered: (input, write) => write(input),
  lost: async (input, write) => {
    await write(input);
    throw named('TimeoutError');
  },
  'not made': async () => {
    throw named('ThrottlingException');
  },
  refused: async () => {
    throw named('ValidationException');
  },
  repeated: async (input, write) => {
    await write(input);
    return { ...(await write(input)), $metadata: { attempts: 2 } };
  },
  throttled: async ({ Statements }) => ({ Responses: Statements.map(() => ({ Error: { Code: 'ThrottlingError' } })) }),
  unanswered: async (input, write) => {
    await write(input);
    return {};
  },
  unreadable: async (input, write) => {
    await write(input);
    throw new SyntaxError('Unexpected end of JSON input');
  },
} satisfies Record<string, Fault>;

const storeWith = (...plannedFaults: (keyof typeof faults)[]) => {
  const calls: string[] = [];
  const send = async (command: { input: Statements }) => {
    const isTogether = command instanceof BatchExecuteStatementCommand;
    calls.push(isTogether ? `${command.input.Statements?.length}` : command instanceof PutCommand ? 'put' : 'read');
    if (!isTogether) return database.dynamo(command as never);
    const write = (input: Statements) => database.dynamo(new BatchExecuteStatementCommand(input as never));
    return faults[plannedFaults.shift() ?? 'answered'](command.input as Statements, write as never);
  };
  const store = makeDeliveryStore({
    ...clock.time,
    dynamo: send as never,
    table: 'Deliveries',
    retryForMs: 2_000,
    pause: async milliseconds => clock.advance(milliseconds),
    writesTogether: true,
  });
  return { ...store, calls, createAll: (all: readonly Delivery[]) => Promise.all(all.map(store.create)) };
};

it('outcomes of one turn are stored in calls of 25, and a single outcome with a put', async () => {
  const { calls, createAll } = storeWith();
  expect(await createAll(outcomes(60))).toEqual(Array(60).fill(true));
  expect(await createAll(outcomes(1))).toEqual([true]);
  expect(calls).toEqual(['25', '25', '10', 'put']);
});

it('only the first of two outcomes with one id is stored, and all other outcomes are stored', async () => {
  const { read, createAll } = storeWith();
  const id = newId();
  const [one, other] = [outcome(id, 'one'), outcome(id, 'other')];
  expect((await createAll([one, other, outcome()])).toSorted()).toEqual([false, true, true]);
  expect(await read([id])).toHaveLength(1);
});

it('an outcome replaces an expired delivery with its id', async () => {
  const { read, createAll } = storeWith();
  const earlier = outcome();
  await createAll([earlier]);
  clock.advance(40 * 24 * 60 * 60_000);
  const later = outcome(earlier.id);
  expect(await createAll([later, outcome()])).toEqual([true, true]);
  expect(await read([earlier.id])).toMatchObject([{ settledAt: clock.now() }]);
});

it('an outcome is reported as stored only if the table contains it, whichever calls fail', async () => {
  const plans = fc.record({
    steps: fc.array(fc.constantFrom(...(Object.keys(faults) as (keyof typeof faults)[])), { maxLength: 4 }),
    sizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
    isTaken: fc.func(fc.boolean()),
  });
  await fc.assert(
    fc.asyncProperty(plans, async ({ steps, sizes, isTaken }) => {
      clock.set(noon);
      const { create, read, createAll } = storeWith(...steps);
      const batches = sizes.map(size => outcomes(size));
      const taken = batches.flat().filter((_, at) => isTaken(at));
      for (const { id } of taken) await create(outcome(id, 'another'));
      const reported = (await Promise.all(batches.map(createAll))).flat();
      const stored = await read(batches.flat().map(({ id }) => id));
      expect(stored.map(({ attempts }) => attempts[0]?.response === 'own')).toEqual(reported);
      expect(reported.filter(isOwn => !isOwn)).toHaveLength(taken.length);
    }),
    { numRuns: amount({ sample: 30, full: 60 }) },
  );
});
