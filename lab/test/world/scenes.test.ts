import type { FaultPlan } from '@emissor/cloud/virtual';
import { expect, test } from 'vitest';
import type { Reaction } from '../../world/receivers.ts';
import { playScene, webhookPath } from '../../world/scene.ts';

const answers = (status: number): Reaction => ({ status, afterMs: 50 });
const hangs: Reaction = { status: 200, afterMs: Number.POSITIVE_INFINITY };

test('A delivery whose receiver hangs uses up its schedule, even if a process dies.', () =>
  playScene(async ({ register, publish, step, kill, run, delivery, posts }) => {
    await register(() => hangs);
    const id = publish();
    await step(3_000);
    kill('deliver-first');
    await run();
    expect(await delivery(id)).toEqual({ state: 'falhou', results: Array(3).fill('tempo_esgotado') });
    expect(posts(id)).toHaveLength(4); // the one without a stored outcome is repeated
  }));

test('A delivery that fails twice and then succeeds is delivered by its third attempt.', () =>
  playScene(async ({ register, publish, run, delivery, posts }) => {
    await register(post => answers(post <= 2 ? 500 : 200));
    const id = publish();
    await run();
    expect(await delivery(id)).toEqual({ state: 'entregue', results: ['http', 'http', 'entregue'] });
    expect(posts(id)).toEqual([500, 500, 200]);
  }));

test('A webhook whose receiver answers 410 is suspended, and its deliveries are held.', () =>
  playScene(async ({ register, publish, run, request, delivery, posts }) => {
    await register(() => answers(410));
    const gone = publish();
    await run();
    const later = publish();
    await run();
    expect(await request('GET', webhookPath)).toMatchObject({ estado: 'suspenso', motivo_suspensao: 'gone' });
    expect(await delivery(gone)).toEqual({ state: 'retida', results: ['http'] });
    expect(await delivery(later)).toEqual({ state: 'retida', results: [] });
    expect(posts(later)).toEqual([]);
  }));

test('A process that dies between the POST and the store duplicates the event without losing it.', () => {
  let posted = false;
  let died = false;
  const fateOf: FaultPlan['fateOf'] = ({ service }) => {
    const dies = posted && !died && service === 'dynamodb';
    died ||= dies;
    posted ||= service === 'post';
    return dies ? 'dies_before' : 'fine';
  };
  return playScene(
    async ({ register, publish, run, delivery, posts }) => {
      await register(() => answers(200));
      const id = publish();
      await run();
      expect(await delivery(id)).toEqual({ state: 'entregue', results: ['entregue'] });
      expect([died, posts(id)]).toEqual([true, [200, 200]]);
    },
    { fateOf },
  );
});

test('A message that SQS delivers twice is POSTed once.', () =>
  playScene(
    async ({ register, publish, at, run, endFaults, delivery, posts }) => {
      await register(() => answers(200));
      const id = publish();
      at(1_000, endFaults);
      await run();
      expect(await delivery(id)).toEqual({ state: 'entregue', results: ['entregue'] });
      expect(posts(id)).toEqual([200]);
    },
    { copies: 1 },
  ));

test('A delivery that waits when its webhook is deleted is cancelled, and no later webhook gets it.', () =>
  playScene(async ({ register, publish, step, request, run, delivery, posts }) => {
    await register(() => answers(500));
    const id = publish();
    await step(2_000);
    await request('DELETE', webhookPath);
    await register(() => answers(200));
    await run();
    expect(await delivery(id)).toEqual({ state: 'cancelada', results: ['http'] });
    expect(posts(id)).toEqual([500]);
  }));
