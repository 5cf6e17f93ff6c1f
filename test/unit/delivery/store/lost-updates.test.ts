import { beforeEach, describe, expect, it } from 'vitest';
import { settled, type WaitingDelivery } from '../../../../lambdas/delivery/delivery.ts';
import { expedited } from '../../../../lambdas/delivery/transitions.ts';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { answer, noon } from '../builders.ts';

let stage: Stage;
beforeEach(async () => {
  stage = makeStage();
  await stage.register();
  stage.answers.push(answer(500));
  stage.publishEvent();
  await stage.pass(1_000);
});

const waiting = () => stage.only() as WaitingDelivery;
const resend = () => stage.request('POST', `/v1/webhooks/demanda.criada/entregas/${waiting().id}/reenvio`);
/** Changes only when the sweeper looks. */
const mark = async () => {
  const read = waiting();
  await stage.store.update(read, { ...read, wait: { ...read.wait, sweepAt: read.wait.sweepAt + 1 } });
};

// It was answered 202, and undone by whoever had read the delivery before.
it('a hold that the webhook’s earlier state requires does not undo a resend', async () => {
  await stage.register({ status: 'suspended', suspensionReason: 'gone' });
  stage.justBefore('Put', async () => {
    await stage.register();
    const read = waiting();
    await stage.store.update(read, expedited(read, stage.now() - 2_000) ?? read);
  });
  await stage.pass(4_000); // it is due
  expect(stage.only()).toMatchObject({ state: 'pending', expedited: { originalDueAt: noon + 4_500 } });
});

describe('a delivery that has changed since it was read', () => {
  it('is resent all the same if only its sweep has another time', async () => {
    stage.justBefore('Put', mark);
    await resend();
    await stage.pass(0);
    expect(stage.posts).toHaveLength(2);
  });

  it('keeps the outcome that was quicker than a resend', async () => {
    stage.justBefore('Put', async () => {
      const read = waiting();
      await stage.store.update(read, settled({ ...read, attempt: read.attempt + 1 }, 'delivered', stage.now()));
    });
    await resend();
    await stage.settle();
    expect(stage.only()).toMatchObject({ state: 'delivered' });
    expect(stage.posts).toHaveLength(1);
  });

  it('ends all the same if only its sweep has another time: no message is left for it', async () => {
    await stage.remove();
    stage.justBefore('Put', mark);
    await stage.pass(4_000);
    expect(stage.only()).toMatchObject({ state: 'cancelled' });
  });

  it('leaves its message in the queue if it changes each time', async () => {
    await stage.remove();
    stage.faults.fateOf = ({ operation }) => {
      if (operation === 'Put') void mark();
      return 'fine';
    };
    await stage.pass(4_000);
    expect(stage.deferrals()).toEqual(['DeliveryChangedError']);
    expect(stage.waiting('retries')).toHaveLength(1);
  });

  it('gets the outcome of an attempt all the same: it was made', async () => {
    stage.justBefore('Put', mark);
    await stage.pass(4_000);
    expect(stage.only()).toMatchObject({ state: 'delivered', attempts: [{ number: 1 }, { number: 2 }] });
  });
});
