import { ChangeMessageVisibilityBatchCommand } from '@aws-sdk/client-sqs';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeRandom } from '../../../tools/support/random.ts';
import { silentPuts } from '../../world/isolation/attacks.ts';
import { maxInFlight } from '../../world/isolation/bounds.ts';
import { attackLength, inOrder, newAccount, quickTrials } from '../../world/isolation/plan.ts';
import { runAttack } from '../../world/isolation/run-attack.ts';
import { type Alter, type RunResult, runTenants } from '../../world/isolation/run-tenants.ts';
import { atRate, type Tenant } from '../../world/isolation/tenant.ts';
import { exceededLimits, figuresOf } from '../../world/isolation/verdict.ts';
import type { SourceOutage } from '../../world/stage.ts';
import { minute } from '../../world/times.ts';

const minutes = 60_000; // a run takes up to 40 s of CPU time
const run = { situation: inOrder, seed: 1 };

describe('Healthy accounts stay within the wait limits', { timeout: 5 * minutes }, () => {
  let alone: RunResult;
  beforeAll(async () => {
    alone = await runAttack({ ...run, length: attackLength });
  }, 5 * minutes);

  test.each(quickTrials)('during the attack "$attack"', async trial => {
    const attacked = await runAttack({ ...run, ...trial, length: attackLength });
    expect(exceededLimits(figuresOf(trial, attacked, alone))).toEqual([]);
  });
});

describe('In a new AWS account', { timeout: 5 * minutes }, () => {
  // Past bug: one account's name servers occupied all executions, and one in twenty events of other accounts waited for minutes.
  test('registrations with unresolvable names do not delay deliveries', async () => {
    const trial = { attack: silentPuts, situation: newAccount };
    const alone = await runAttack({ ...run, situation: newAccount, length: attackLength });
    const attacked = await runAttack({ ...run, ...trial, length: attackLength });
    expect(exceededLimits(figuresOf(trial, attacked, alone))).toEqual([]);
  });
});

describe('A webhook that hangs does not exceed the limit of attempts in flight', { timeout: 5 * minutes }, () => {
  const hanging = (rate: number, until: number, resends = 0) => {
    const period = { from: 0, until };
    const behave: Tenant['behave'] = () => ({ responseMs: Number.POSITIVE_INFINITY, isSuccess: true });
    const owner = { account: 'hangs', webhook: 'hangs', role: 'attacker', resolutionMs: 2, resends } as const;
    return { ...run, period, tenants: [{ ...owner, behave, publishTimes: atRate(rate)(period, makeRandom(1)) }] };
  };

  // Past bug: the sweeper's copies arrived at the same time, and two processes made the same attempt.
  test('after an outage of the slow lane, and receives no duplicate POSTs', async () => {
    const outage: SourceOutage = { lane: 'slow', from: 3 * minute, until: 10 * minute };
    const result = await runTenants({ ...hanging(10, 12 * minute), outage });
    expect(result.duplicatePosts).toBe(0);
    expect(result.maxInFlight).toBeLessThanOrEqual(maxInFlight);
  });

  // Past bug: resends were not counted, and up to 160 attempts were in flight.
  test('if its owner resends 60 deliveries', async () => {
    const result = await runTenants(hanging(30, 1.5 * minute, 60));
    expect(result.maxInFlight).toBeLessThanOrEqual(maxInFlight);
  });
});

describe('An isolation run detects a product', { timeout: 5 * minutes }, () => {
  test('that does not hide messages beyond the limit of a webhook', async () => {
    const [length, attack] = [30_000, 'always hangs, burst of 5,000'];
    const alone = await runAttack({ ...run, length });
    const attacked = await runAttack({ ...run, length, attack }, withoutHiding);
    expect(exceededLimits(figuresOf({ attack }, attacked, alone)).join()).toMatch(/extra wait of first attempts/);
  });
});

/** Changes visibility timeouts to 0, so that messages return to the queue immediately. */
const withoutHiding: Alter = runtime => {
  const { sqs } = runtime;
  const send: typeof sqs.send = (command, options) => {
    if (!(command instanceof ChangeMessageVisibilityBatchCommand)) return sqs.send(command, options);
    const Entries = command.input.Entries?.map(entry => ({ ...entry, VisibilityTimeout: 0 }));
    return sqs.send(new ChangeMessageVisibilityBatchCommand({ ...command.input, Entries }), options);
  };
  return { ...runtime, sqs: { send } };
};
