import { beforeEach, describe, expect, it } from 'vitest';
import { settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { aDelivery, answer, noon } from '../builders.ts';

let stage: Stage;
beforeEach(async () => {
  stage = makeStage();
  await stage.register();
});

/** The answer of the next such call gets lost. The SDK repeats the call, which meets its own first try, and is refused. */
const loseAnswer = (wanted: string) => {
  stage.faults.fateOf = ({ operation }) => {
    if (operation !== wanted) return 'fine';
    stage.faults.fateOf = undefined;
    return 'answer_lost';
  };
};

describe('a conditional write that the SDK repeated', () => {
  // An attempt came two minutes late after a wait of an hour.
  it('claims a due delivery for the sweeper, which sends its message', async () => {
    stage.answers.push(answer(503, { 'retry-after': '3600' }));
    stage.publishEvent();
    await stage.run(noon + 58 * 60_000);
    loseAnswer('Update');
    await stage.settle();
    expect(stage.posts).toHaveLength(2);
    expect(stage.posts[1]?.at).toBeLessThan(noon + 3_601_000);
  });

  describe('of a replay', () => {
    const path = '/v1/webhooks/demanda.criada/reenvios';
    const body = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-21T00:00:00Z', estado: 'falhou' };
    beforeEach(async () => {
      await stage.store.create(settled(aDelivery(), 'failed', noon));
      await stage.pass(1);
    });

    // It was forgotten, as one that had ended already: 404 in place of `cancelado`.
    it('cancels it, and does not forget it', async () => {
      const { json } = await stage.request('POST', path, { body });
      loseAnswer('Update');
      expect(await stage.request('DELETE', `${path}/${json.id}`)).toMatchObject({ status: 204 });
      const shown = await stage.request('GET', `${path}/${json.id}`);
      expect(shown).toMatchObject({ status: 200, json: { estado: 'cancelado' } });
    });
  });

  // Neither the metric nor the log showed that it was suspended.
  it('suspends a webhook whose receiver answers 410, and reports it', async () => {
    stage.answers.push(answer(410));
    loseAnswer('Update');
    stage.publishEvent();
    await stage.pass(2_000);
    expect(await stage.webhook()).toMatchObject({ status: 'suspended', unannounced: { reason: 'gone' } });
    expect(stage.logged('webhook.suspended')).toBe(1);
  });
});
