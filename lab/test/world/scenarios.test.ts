import type { FaultPlan } from '@emissor/cloud/virtual';
import { expect, test } from 'vitest';
import type { Reaction } from '../../world/receivers.ts';
import { runScenario, webhookPath } from '../../world/scenario.ts';

const responds = (status: number): Reaction => ({ status, afterMs: 50 });
const hangs: Reaction = { status: 200, afterMs: Number.POSITIVE_INFINITY };

test('A delivery to a receiver that hangs fails after all retries, even if a process crashes.', () =>
  runScenario(async ({ register, publish, step, kill, run, delivery, posts }) => {
    await register(() => hangs);
    const id = publish();
    await step(3_000);
    kill('deliver-first');
    await run();
    expect(await delivery(id)).toEqual({ state: 'falhou', results: Array(3).fill('tempo_esgotado') });
    expect(posts(id)).toHaveLength(4); // one attempt is repeated, because its outcome was not stored
  }));

test('The third attempt delivers an event after two failures.', () =>
  runScenario(async ({ register, publish, run, delivery, posts }) => {
    await register(post => responds(post <= 2 ? 500 : 200));
    const id = publish();
    await run();
    expect(await delivery(id)).toEqual({ state: 'entregue', results: ['http', 'http', 'entregue'] });
    expect(posts(id)).toEqual([500, 500, 200]);
  }));

test('A 410 response suspends the webhook and holds its deliveries.', () =>
  runScenario(async ({ register, publish, run, request, delivery, posts }) => {
    await register(() => responds(410));
    const gone = publish();
    await run();
    const later = publish();
    await run();
    expect(await request('GET', webhookPath)).toMatchObject({ estado: 'suspenso', motivo_suspensao: 'gone' });
    expect(await delivery(gone)).toEqual({ state: 'retida', results: ['http'] });
    expect(await delivery(later)).toEqual({ state: 'retida', results: [] });
    expect(posts(later)).toEqual([]);
  }));

test('A crash between the POST and the write of its outcome duplicates the POST but does not lose the event.', () => {
  let hasPosted = false;
  let hasCrashed = false;
  const outcomeOf: FaultPlan['outcomeOf'] = ({ service }) => {
    const mustCrash = hasPosted && !hasCrashed && service === 'dynamodb';
    hasCrashed ||= mustCrash;
    hasPosted ||= service === 'post';
    return mustCrash ? 'dies_before' : 'fine';
  };
  return runScenario(
    async ({ register, publish, run, delivery, posts }) => {
      await register(() => responds(200));
      const id = publish();
      await run();
      expect(await delivery(id)).toEqual({ state: 'entregue', results: ['entregue'] });
      expect([hasCrashed, posts(id)]).toEqual([true, [200, 200]]);
    },
    { outcomeOf },
  );
});

test('The consumer POSTs a message once if SQS delivers it twice.', () =>
  runScenario(
    async ({ register, publish, at, run, endFaults, delivery, posts }) => {
      await register(() => responds(200));
      const id = publish();
      at(1_000, endFaults);
      await run();
      expect(await delivery(id)).toEqual({ state: 'entregue', results: ['entregue'] });
      expect(posts(id)).toEqual([200]);
    },
    { copies: 1 },
  ));

test('Deleting a webhook cancels its waiting deliveries, and a new webhook does not receive them.', () =>
  runScenario(async ({ register, publish, step, request, run, delivery, posts }) => {
    await register(() => responds(500));
    const id = publish();
    await step(2_000);
    await request('DELETE', webhookPath);
    await register(() => responds(200));
    await run();
    expect(await delivery(id)).toEqual({ state: 'cancelada', results: ['http'] });
    expect(posts(id)).toEqual([500]);
  }));
