import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { batchGet } from '../../../../lambdas/platform/aws/batch-get.ts';
import { startAuthService } from '../../../support/auth-service.ts';

const day = 24 * 3_600_000;

/** The lockout of one e-mail address at one client as the contract describes it, without concurrency. */
class Model {
  failures = 0;
  last = 0;

  isLocked(now: number): boolean {
    return this.failures >= 5 && now < this.last + Math.min(1_000 * 2 ** (this.failures - 5), 15 * 60_000);
  }

  fail(now: number): void {
    this.failures = now < this.last + day ? this.failures + 1 : 1;
    this.last = now;
  }
}

const client = fc.integer({ min: 0, max: 2 });
const actions = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant('fail' as const), client, times: fc.integer({ min: 1, max: 12 }) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('succeed' as const), client }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('wait' as const),
        ms: fc.constantFrom(999, 1, 4_000, 900_000, day - 900_000, day),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('unlock' as const) }) },
  ),
  { maxLength: 30 },
);

let emails = 0;
const service = await startAuthService();
afterAll(() => service.stop());

describe('the lockout of one e-mail address', () => {
  it('behaves like its model, after any concurrent failures, successes, waits and unlocks', async () => {
    await fc.assert(
      fc.asyncProperty(actions, async steps => {
        const { lockout, clock, database } = service;
        const email = `model${++emails}@example.com`;
        let models = [new Model(), new Model(), new Model()];
        const modelOf = (one: number) => models[one] ?? new Model();
        const look = async (one: number) => {
          const key = await lockout.keyOf(`client${one}`, email);
          const [item] = await batchGet(database.dynamo, [key]);
          const failures = lockout.failuresIn(item);
          expect(failures.lockedUntil !== undefined).toBe(modelOf(one).isLocked(clock.now()));
          return { key, failures };
        };
        for (const step of steps) {
          if (step.do === 'wait') clock.advance(step.ms);
          else if (step.do === 'unlock') {
            await lockout.unlock(email);
            models = models.map(() => new Model());
          } else {
            const { key, failures } = await look(step.client);
            if (failures.lockedUntil !== undefined) continue;
            if (step.do === 'succeed') {
              expect(await lockout.recordSuccess(key, failures)).toBe(true);
              models[step.client] = new Model();
            } else {
              await Promise.all(Array.from({ length: step.times }, () => lockout.recordFailure(key, failures)));
              for (let time = 0; time < step.times; time++) modelOf(step.client).fail(clock.now());
            }
          }
        }
        for (const one of models.keys()) await look(one);
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});
