import type { SQSRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { deliveryIdOf } from '../../../../lambdas/delivery/intake/event.ts';
import type { Admission } from '../../../../lambdas/delivery/isolation/admission.ts';
import type { SlownessOwner } from '../../../../lambdas/delivery/isolation/slow-since.ts';
import { makeFirstAttempt } from '../../../../lambdas/delivery/worker/first-attempt.ts';
import { makeRetry } from '../../../../lambdas/delivery/worker/retry.ts';
import { frozenClock } from '../../../support/clock.ts';
import { fakeTelemetry } from '../builders.ts';

const id = deliveryIdOf('conta-1', 'demanda.criada', 'pub-1');
const event = { id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7, id: 'pub-1' };
const attempt = { id, accountId: 'conta-1', eventName: 'demanda.criada', attempt: 2 };

const recordOf = (body: object, receiveCount: number) =>
  ({
    messageId: 'message-1',
    body: JSON.stringify(body),
    attributes: { ApproximateReceiveCount: String(receiveCount) },
    messageAttributes: {},
  }) as unknown as SQSRecord;

/** Processes a message by an admission, and tells what was asked and what was read. Whatever is read fails. */
const processing = (admission: Admission) => {
  const asked: [SlownessOwner, number][] = [];
  let reads = 0;
  const telemetry = fakeTelemetry();
  const untouched = async () => {
    throw new Error('nothing else may be done');
  };
  const dependencies = {
    ...telemetry,
    admit: ({ accountId, eventName }: SlownessOwner, receiveCount: number) => {
      asked.push([{ accountId, eventName }, receiveCount]);
      return admission;
    },
    findWebhookState: async () => {
      reads += 1;
      throw new Error('the store is down');
    },
    judgeTurn: untouched,
    processDelivery: untouched,
    sendAgain: untouched,
    suspensions: { resume: untouched },
    moveToDeadLetters: untouched,
    now: frozenClock().now,
  };
  const store = { create: untouched, update: untouched };
  const first = makeFirstAttempt({
    ...dependencies,
    store,
    refusals: { add: untouched },
    withoutWebhook: { note: untouched },
    demandsUrl: 'https://d.com.br',
  });
  const retry = makeRetry({ ...dependencies, store, replays: { find: untouched }, lane: 'retry' });
  return { first, retry, asked, reads: () => reads, telemetry };
};

describe.each([
  ['first', event, { messageId: 'message-1', deliveryId: id }],
  ['retry', attempt, { deliveryId: id, attempt: 2 }],
] as const)('a message that is shed in the %s lane', (lane, body, described) => {
  it('is asked for by its webhook and its receives, and nothing of it is read or written', async () => {
    const world = processing({ outcome: 'shed' });
    expect(await world[lane](recordOf(body, 3))).toBe('shed');
    expect(world.asked).toEqual([[{ accountId: 'conta-1', eventName: 'demanda.criada' }, 3]]);
    expect(world.reads()).toBe(0);
  });

  it('has one line in the log, by which it is found', async () => {
    const world = processing({ outcome: 'shed' });
    for (const receiveCount of [1, 2, 3, 4]) await world[lane](recordOf(body, receiveCount));
    const lines = world.telemetry.lines.map(line => JSON.parse(line));
    expect(lines).toEqual([['delivery.shed', { ...described, account: 'conta-1', event: 'demanda.criada' }]]);
  });

  it('gives its place back where it was admitted and fails', async () => {
    let places = 1;
    const leave = () => {
      places -= 1;
    };
    const world = processing({ outcome: 'admitted', mayAttempt: true, leave });
    await expect(world[lane](recordOf(body, 1))).rejects.toThrow('the store is down');
    expect(places).toBe(0);
  });
});
