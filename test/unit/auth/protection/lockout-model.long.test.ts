import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { batchGet } from '../../../../lambdas/platform/aws/batch-get.ts';
import { startAuthService } from '../../../support/auth-service.ts';

const day = 24 * 3_600_000;
const clients = 7;

interface Count {
  failures: number;
  last: number;
}

/** The lockout of one e-mail address as the contract describes it, without concurrency. */
class Model {
  readonly counts = new Map<number, Count>();
  sharedAt = 0;

  of(client: number, now: number): Count {
    const count = this.counts.get(client);
    return count && now < count.last + day ? count : { failures: 0, last: 0 };
  }

  isLocked(client: number, now: number): boolean {
    const sum = [...this.counts.keys()].reduce((total, one) => total + Math.min(this.of(one, now).failures, 10), 0);
    const { failures, last } = this.of(client, now);
    return now < last + lock(failures, 5) || now < this.sharedAt + lock(sum, 50);
  }

  fail(client: number, now: number): void {
    const { failures } = this.of(client, now);
    if (failures < 10) this.sharedAt = now;
    this.counts.set(client, { failures: failures + 1, last: now });
  }
}

const lock = (failures: number, first: number): number =>
  failures < first ? 0 : Math.min(1_000 * 2 ** (failures - first), 15 * 60_000);

const client = fc.integer({ min: 0, max: clients - 1 });
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
        let model = new Model();
        const look = async (one: number) => {
          const key = await lockout.keyOf(`client${one}`, email);
          const [item] = await batchGet(database.dynamo, [key]);
          return { key, record: lockout.failuresIn(key, item) };
        };
        for (const step of steps) {
          if (step.do === 'wait') clock.advance(step.ms);
          else if (step.do === 'unlock') {
            await lockout.unlock(email);
            model = new Model();
          } else {
            const { key, record } = await look(step.client);
            expect(record.isLocked).toBe(model.isLocked(step.client, clock.now()));
            if (record.isLocked) continue;
            if (step.do === 'succeed') {
              expect(await lockout.commit(key, record)).toBe(true);
              model.counts.delete(step.client);
            } else {
              await Promise.all(Array.from({ length: step.times }, () => lockout.countFailure(key, record)));
              for (let time = 0; time < step.times; time++) model.fail(step.client, clock.now());
            }
          }
        }
        for (let one = 0; one < clients; one++) {
          expect((await look(one)).record.isLocked).toBe(model.isLocked(one, clock.now()));
        }
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});
