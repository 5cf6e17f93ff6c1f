import type { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { smokeAccount } from '../../../../lambdas/auth/principals/account.ts';
import { makeReadWithoutWebhook, makeWithoutWebhook } from '../../../../lambdas/delivery/intake/without-webhook.ts';
import { type FrozenClock, frozenClock } from '../../../support/clock.ts';
import { makeStage } from '../../../support/stage.ts';
import { noon } from '../builders.ts';

const [minute, hour, day] = [60_000, 60 * 60_000, 24 * 60 * 60_000];

/** A process of the function, over a store of its own that answers as told: by default at once. */
const aProcess = (answer: () => Promise<unknown> = async () => ({})) => {
  const clock = frozenClock(noon);
  const writes: string[] = [];
  const lines: unknown[] = [];
  const dynamo = ({ input }: UpdateCommand) => {
    writes.push(String(input.Key?.id));
    return answer();
  };
  const note = (...line: unknown[]) => void lines.push(line);
  const log = { info: note, warn: note, error: note };
  const process = makeWithoutWebhook({ ...clock.time, dynamo: dynamo as never, table: 'Deliveries', log });
  return { ...process, clock, writes, lines };
};

describe('an event without a webhook', () => {
  it('is written once an hour for each account and event, however many come', () => {
    const { note, clock, writes } = aProcess();
    for (let time = 0; time < 24 * 60; time++) {
      for (const account of ['a', 'b']) {
        note(account, 'demanda.criada', clock.now());
        note(account, 'demanda.cancelada', clock.now());
      }
      clock.advance(minute);
    }
    expect(writes).toHaveLength(24 * 2 * 2);
    expect(new Set(writes)).toEqual(new Set(['without-webhook#a', 'without-webhook#b']));
  });

  it('is not written for the account of smoke tests', () => {
    const { note, writes } = aProcess();
    note(smokeAccount, 'demanda.criada', noon);
    expect(writes).toEqual([]);
  });

  it('is tried again a minute after a write that failed, and fails nothing', async () => {
    const { note, settled, clock, writes, lines } = aProcess(() => Promise.reject(new Error('the table is down')));
    for (let second = 0; second < 60; second++) {
      note('a', 'demanda.criada', clock.now());
      await settled();
      clock.advance(1_000);
    }
    expect(writes).toHaveLength(1);
    note('a', 'demanda.criada', clock.now());
    await settled();
    expect(writes).toHaveLength(2);
    expect(lines).toMatchObject([
      ['event.not_noted', { account: 'a', event: 'demanda.criada' }],
      ['event.not_noted', {}],
    ]);
  });

  it('holds the end of an invocation up for a moment at most, where the table does not answer', async () => {
    const { note, settled, writes } = aProcess(() => new Promise(() => {}));
    note('a', 'demanda.criada', noon);
    await settled();
    expect(writes).toHaveLength(1);
  });

  it('is forgotten first where others are too many to be remembered', () => {
    const { note, writes } = aProcess();
    for (let account = 0; account <= 10_000; account++) note(`account-${account}`, 'demanda.criada', noon);
    note('account-1', 'demanda.criada', noon);
    expect(writes).toHaveLength(10_001);
    note('account-0', 'demanda.criada', noon);
    expect(writes).toHaveLength(10_002);
  });
});

describe('what is told of events without a webhook', () => {
  let clock: FrozenClock;
  let account = '';
  let accounts = 0;
  beforeEach(() => {
    clock = frozenClock(noon);
    account = `account-${++accounts}`;
  });
  const { dynamo } = makeStage();
  const stored = () => ({ ...clock.time, dynamo, table: 'Deliveries' });
  const read = async () => [...(await makeReadWithoutWebhook(stored())(account))];
  /** Notes an event in a process that remembers no other. */
  const note = async (eventName: 'demanda.criada' | 'demanda.cancelada', acceptedAt: number) => {
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const process = makeWithoutWebhook({ ...stored(), log });
    process.note(account, eventName, acceptedAt);
    await process.settled();
  };

  it('is the last time of each, by name, also where an older one is sent again', async () => {
    await note('demanda.cancelada', noon - day);
    await note('demanda.criada', noon);
    await note('demanda.criada', noon - hour);
    expect(await read()).toEqual([
      ['demanda.cancelada', noon - day],
      ['demanda.criada', noon],
    ]);
  });

  it('ends after thirty days, whether or not the item is still there', async () => {
    await note('demanda.criada', noon);
    clock.advance(20 * day);
    await note('demanda.cancelada', clock.now());
    clock.advance(10 * day - 1);
    expect(await read()).toHaveLength(2);
    clock.advance(1);
    expect(await read()).toEqual([['demanda.cancelada', noon + 20 * day]]);
  });
});

describe('GET …/entregas of an event that came without a webhook', () => {
  const path = '/v1/webhooks/demanda.criada/entregas';
  const event = { id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7, id: 'pub-1' };

  it('is noted, and refused by every request that needs a webhook', async () => {
    const stage = makeStage();
    stage.publish(event);
    await stage.settle();
    expect(stage.deliveries()).toEqual([]);
    expect(stage.items()).toMatchObject([{ id: 'without-webhook#conta-1', 'demanda.criada': noon }]);
    const at = '/v1/webhooks/demanda.criada';
    const refused = await Promise.all([
      stage.request('GET', path),
      stage.request('GET', `${path}/evt_${'0'.repeat(27)}`),
      stage.request('POST', `${at}/teste`),
      stage.request('GET', `${at}/reenvios/reenvio_x`),
    ]);
    for (const answered of refused) {
      expect(answered).toMatchObject({ status: 404, json: { code: 'webhook_not_found' } });
    }
  });

  it('reads nothing for a name that no event has', async () => {
    const stage = makeStage();
    const execute = vi.spyOn(stage.tables, 'execute');
    const answered = await stage.request('GET', '/v1/webhooks/demanda.feita/entregas');
    expect(answered?.json).toMatchObject({ code: 'webhook_not_found' });
    // The caller's client, session and user are read, and nothing of deliveries or webhooks.
    expect(JSON.stringify(execute.mock.calls.map(([{ input }]) => input))).not.toMatch(/Deliveries|Webhooks/);
  });

  it('knows nothing of events that had one, nor of tests', async () => {
    const stage = makeStage();
    await stage.register();
    stage.publish(event);
    await stage.request('POST', '/v1/webhooks/demanda.criada/teste');
    await stage.settle();
    expect(
      stage
        .items()
        .map(({ id }) => id)
        .filter(id => id.startsWith('without-webhook#')),
    ).toEqual([]);
  });
});
