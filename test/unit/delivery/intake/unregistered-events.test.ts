import type { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { smokeAccount } from '../../../../lambdas/auth/principals/account.ts';
import {
  makeReadUnregisteredEvents,
  makeUnregisteredEvents,
} from '../../../../lambdas/delivery/intake/unregistered-events.ts';
import type { Dynamo } from '../../../../lambdas/platform/aws/dynamo.ts';
import { type FrozenClock, frozenClock } from '../../../support/clock.ts';
import { makeStage } from '../../../support/stage.ts';
import { fakeTelemetry, noon } from '../builders.ts';

const [minute, hour, day] = [60_000, 60 * 60_000, 24 * 60 * 60_000];

/** Starts a process of the function with its own store, which responds at once by default. */
const startProcess = (respond: () => Promise<unknown> = async () => ({})) => {
  const clock = frozenClock(noon);
  const writes: string[] = [];
  const dynamo = ({ input }: UpdateCommand) => {
    writes.push(String(input.Key?.id));
    return respond();
  };
  const { log, lines } = fakeTelemetry();
  const process = makeUnregisteredEvents({ ...clock.time, dynamo: dynamo as never, table: 'Deliveries', log });
  return { ...process, clock, writes, lines };
};

describe('an event without a webhook', () => {
  it('is written once per hour, account and event', () => {
    const { record, clock, writes } = startProcess();
    for (let time = 0; time < 24 * 60; time++) {
      for (const account of ['a', 'b']) {
        record(account, 'demanda.criada', clock.now());
        record(account, 'demanda.cancelada', clock.now());
      }
      clock.advance(minute);
    }
    expect(writes).toHaveLength(24 * 2 * 2);
    expect(new Set(writes)).toEqual(new Set(['without-webhook#a', 'without-webhook#b']));
  });

  it('is not written for the account of smoke tests', () => {
    const { record, writes } = startProcess();
    record(smokeAccount, 'demanda.criada', noon);
    expect(writes).toEqual([]);
  });

  it('is written again 1 minute after a failed write, which has no other effect', async () => {
    const { record, settled, clock, writes, lines } = startProcess(() =>
      Promise.reject(new Error('the table is down')),
    );
    for (let second = 0; second < 60; second++) {
      record('a', 'demanda.criada', clock.now());
      await settled();
      clock.advance(1_000);
    }
    expect(writes).toHaveLength(1);
    record('a', 'demanda.criada', clock.now());
    await settled();
    expect(writes).toHaveLength(2);
    const line = ['event.not_noted', { account: 'a', event: 'demanda.criada' }];
    expect(lines.map(text => JSON.parse(text))).toMatchObject([line, line]);
  });

  it('delays the end of an invocation by at most 200 ms if the table does not respond', async () => {
    const { record, settled, writes } = startProcess(() => new Promise(() => {}));
    record('a', 'demanda.criada', noon);
    await settled();
    expect(writes).toHaveLength(1);
  });
});

describe('the list of events without a webhook', () => {
  let clock: FrozenClock;
  let stored: { readonly now: () => number; readonly dynamo: Dynamo; readonly table: string };
  beforeEach(() => {
    clock = frozenClock(noon);
    stored = { ...clock.time, dynamo: makeStage().dynamo, table: 'Deliveries' };
  });
  const read = async () => [...(await makeReadUnregisteredEvents(stored)('a'))];
  /** Records an event in a new process. */
  const note = async (eventName: 'demanda.criada' | 'demanda.cancelada', acceptedAt: number) => {
    const process = makeUnregisteredEvents({ ...clock.time, ...stored, ...fakeTelemetry() });
    process.record('a', eventName, acceptedAt);
    await process.settled();
  };

  it('contains the latest time of each name, even if an older event is sent again', async () => {
    await note('demanda.cancelada', noon - day);
    await note('demanda.criada', noon);
    await note('demanda.criada', noon - hour);
    expect(await read()).toEqual(Object.entries({ 'demanda.cancelada': noon - day, 'demanda.criada': noon }));
  });

  it('omits an event after 30 days, even if its item still exists', async () => {
    await note('demanda.criada', noon);
    clock.advance(20 * day);
    await note('demanda.cancelada', clock.now());
    clock.advance(10 * day - 1);
    expect(await read()).toHaveLength(2);
    clock.advance(1);
    expect(await read()).toEqual([['demanda.cancelada', noon + 20 * day]]);
  });
});

it('an event with a webhook and a test are not recorded as events without a webhook', async () => {
  const stage = makeStage();
  await stage.register();
  stage.publishEvent();
  await stage.request('POST', '/v1/webhooks/demanda.criada/teste');
  await stage.settle();
  const ids = stage.items().map(({ id }) => String(id));
  expect(ids.filter(id => id.startsWith('without-webhook#'))).toEqual([]);
});
