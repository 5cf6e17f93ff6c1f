import { BatchExecuteStatementCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
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

/** The outcome of a first attempt; those of other texts are of other processes. */
let made = 0;
const freshId = () => `evt_${String(++made).padStart(27, '0')}`;
const outcome = (id = freshId(), text = 'own'): Delivery =>
  settled(aDelivery({ id, attempt: 2, charged: 1, attempts: [aRecord({ response: text })] }), 'delivered', noon);
const outcomes = (count: number) => Array.from({ length: count }, () => outcome());

/** The outcome of a call for several: how many of its items are written, and what is said of it. */
type Trouble = (input: Statements, write: (input: Statements) => Promise<Answers>) => Promise<Answers>;
type Statements = { Statements: readonly { Parameters: readonly unknown[] }[] };
type Answers = { Responses?: object[]; $metadata?: object };

/** A store that meets these troubles in turn, and its calls. */
const storeWith = (...troubles: Trouble[]) => {
  const calls: string[] = [];
  const send = async (command: { input: Statements }) => {
    if (!(command instanceof BatchExecuteStatementCommand)) {
      calls.push(command instanceof PutCommand ? 'put' : 'read');
      return database.dynamo(command as never);
    }
    calls.push(`${command.input.Statements?.length} together`);
    const write = (input: Statements) =>
      database.dynamo(new BatchExecuteStatementCommand(input as never)) as Promise<Answers>;
    return (troubles.shift() ?? ((input, pass) => pass(input)))(command.input as Statements, write);
  };
  const store = makeDeliveryStore({
    ...clock.time,
    dynamo: send as never,
    table: 'Deliveries',
    retryForMs: 2_000,
    pause: async milliseconds => clock.advance(milliseconds),
    writesTogether: true,
  });
  const createAll = (deliveries: readonly Delivery[]) => Promise.all(deliveries.map(store.create));
  return { store, calls, createAll };
};
const { store: plain } = storeWith();
const named = (name: string, more: object = {}) => Object.assign(new Error(name), { name, ...more });
const all = <Value>(count: number, value: Value) => Array.from({ length: count }, () => value);

describe('deliveries that are created at about the same time', () => {
  it('are written by one call', async () => {
    const { calls, createAll } = storeWith();
    const deliveries = outcomes(10);
    expect(await createAll(deliveries)).toEqual(all(10, true));
    expect(calls).toEqual(['10 together']);
    expect(await plain.read(deliveries.map(({ id }) => id))).toEqual(deliveries);
  });

  it('are written by a put where there is one', async () => {
    const { calls, createAll } = storeWith();
    expect(await createAll(outcomes(1))).toEqual([true]);
    expect(calls).toEqual(['put']);
  });

  it('are 25 at most in a call', async () => {
    const { calls, createAll } = storeWith();
    expect(await createAll(outcomes(60))).toEqual(all(60, true));
    expect(calls).toEqual(['25 together', '25 together', '10 together']);
  });

  it('wait for one of two calls in flight, and go together then', async () => {
    const ends: (() => void)[] = [];
    const held: Trouble = async (input, write) => {
      await new Promise<void>(resolve => ends.push(resolve));
      return write(input);
    };
    const { calls, createAll } = storeWith(held, held);
    const begun = [createAll(outcomes(2))];
    await turns();
    begun.push(createAll(outcomes(3)));
    await turns();
    begun.push(createAll(outcomes(1)), createAll(outcomes(3)));
    await turns();
    expect(calls).toEqual(['2 together', '3 together']);
    ends[1]?.(); // the first one hangs
    expect((await Promise.all(begun.slice(1))).flat()).toEqual(all(7, true));
    expect(calls).toEqual(['2 together', '3 together', '4 together']);
    ends[0]?.();
    expect(await begun[0]).toEqual([true, true]);
  });

  it('are one, where two have one id', async () => {
    const { calls, createAll } = storeWith();
    const id = freshId();
    const [one, other] = [outcome(id, 'one'), outcome(id, 'other')];
    const [isOne, isOther] = (await createAll([one, other, outcome()])) as [boolean, boolean, boolean];
    expect(isOther).toBe(!isOne);
    expect(calls).toContain('2 together');
    expect(await plain.read([id])).toEqual([isOne ? one : other]);
  });
});

describe('of deliveries that are created together, one', () => {
  it('takes the place of one whose time is over', async () => {
    const earlier = outcome(freshId(), 'earlier');
    await plain.create(earlier);
    clock.advance(40 * 24 * 60 * 60_000);
    const later = settled(aDelivery({ id: earlier.id }), 'delivered', clock.now());
    expect(await storeWith().createAll([later, outcome()])).toEqual([true, true]);
    expect(await plain.read([earlier.id])).toEqual([later]);
  });

  it.each(['ThrottlingError', 'ProvisionedThroughputExceeded', 'InternalServerError', 'TransactionConflict'])(
    'that meets %s is written again by itself, though the call succeeds',
    async Code => {
      const troubled: Trouble = async (input, write) => {
        const [first, ...others] = input.Statements;
        const { Responses = [] } = await write({ Statements: others });
        return { Responses: [{ Error: { Code } }, ...Responses], first } as Answers;
      };
      const deliveries = outcomes(3);
      const { calls, createAll } = storeWith(troubled);
      expect(await createAll(deliveries)).toEqual(all(3, true));
      expect(calls).toEqual(['3 together', 'put']);
      expect(clock.now()).toBe(noon + 100);
    },
  );

  it('that DynamoDB does not take does not keep the others from being stored', async () => {
    const refused: Trouble = async () => {
      throw named('ValidationException');
    };
    const { calls, createAll } = storeWith(refused);
    expect(await createAll(outcomes(3))).toEqual(all(3, true));
    expect(calls).toEqual(['3 together', 'put', 'put', 'put']);
  });
});

describe('deliveries whose common call got no answer', () => {
  it('are stored once each where some were written', async () => {
    const lost: Trouble = async (input, write) => {
      await write({ Statements: input.Statements.slice(0, 2) });
      throw named('TimeoutError');
    };
    const deliveries = outcomes(4);
    const { calls, createAll } = storeWith(lost);
    expect(await createAll(deliveries)).toEqual(all(4, true));
    expect(calls.toSorted()).toEqual(['4 together', ...all(4, 'put'), ...all(2, 'read')]);
    expect(await plain.read(deliveries.map(({ id }) => id))).toEqual(deliveries);
  });

  it.each([
    ['found no network when it was repeated', named('Error', { code: 'EHOSTUNREACH', $metadata: { attempts: 3 } })],
    ['was refused when it was repeated', named('ExpiredTokenException', { $metadata: { attempts: 2 } })],
    ['got an answer that cannot be read', new SyntaxError('Unexpected end of JSON input')],
  ])('are known again where the call stored them, and then %s', async (_name, failure) => {
    const stored: Trouble = async (input, write) => {
      await write(input);
      throw failure;
    };
    const deliveries = outcomes(3);
    expect(await storeWith(stored).createAll(deliveries)).toEqual(all(3, true));
    expect(await plain.read(deliveries.map(({ id }) => id))).toEqual(deliveries);
  });

  it('says true of what stands in the table, and of nothing else, whatever happens', async () => {
    const step = fc.constantFrom('answered', 'lost', 'not made', 'repeated', 'throttled', 'unanswered');
    const plans = fc.record({
      steps: fc.array(step, { maxLength: 4 }),
      sizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
      isTaken: fc.func(fc.boolean()),
    });
    await fc.assert(
      fc.asyncProperty(plans, async ({ steps, sizes, isTaken }) => {
        clock.set(noon);
        const { createAll } = storeWith(...steps.flatMap(name => troubles[name] ?? []));
        const batches = sizes.map(size => outcomes(size));
        const taken = batches.flat().filter((_, at) => isTaken(at));
        for (const { id } of taken) await plain.create(outcome(id, 'another'));
        const said = (await Promise.all(batches.map(createAll))).flat();
        const stored = await plain.read(batches.flat().map(({ id }) => id));
        expect(stored.map(({ attempts }) => attempts[0]?.response === 'own')).toEqual(said);
        expect(said.filter(isOwn => !isOwn)).toHaveLength(taken.length);
      }),
      { numRuns: amount({ sample: 30, full: 60 }) },
    );
  });
});

const troubles: Record<string, Trouble> = {
  answered: (input, write) => write(input),
  lost: async (input, write) => {
    await write(input);
    throw named('TimeoutError');
  },
  'not made': async () => {
    throw named('ThrottlingException');
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
} satisfies Record<string, Trouble>;

/** Lets what was begun come to where it waits. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}
