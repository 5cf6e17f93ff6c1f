import { expect, it } from 'vitest';
import { healthyBurst } from '../../world/isolation/attacks.ts';
import { inOrder } from '../../world/isolation/plan.ts';
import type { RunResult } from '../../world/isolation/run-tenants.ts';
import type { Tenant } from '../../world/isolation/tenant.ts';
import { makeTenantReceivers } from '../../world/isolation/tenant-receivers.ts';
import { exceededLimits, figuresOf } from '../../world/isolation/verdict.ts';

const quick = Array.from({ length: 1_000 }, () => 10);
const waits = { first: quick, retries: quick };
const run: RunResult = {
  waits: { healthy: waits, bystander: waits, attacker: waits },
  ...{ maxInFlight: 120, deadLetters: 0, slowLanePosts: 0, posts: 0, duplicatePosts: 0, pending: 0, cpu: 0 },
};
const waitsOf = (role: Tenant['role'], first: readonly number[]) => ({
  waits: { ...run.waits, [role]: { ...waits, first } },
});

it.each([
  ['a run that meets all limits', {}, []],
  [
    'one first attempt in fifty with an extra wait of 1.2 s',
    waitsOf('healthy', quick.toSpliced(0, 20, ...Array(20).fill(1_210))),
    ['extra wait of first attempts: 1200 > 1000'],
  ],
  ['one first attempt in a thousand with an extra wait of an hour', waitsOf('healthy', quick.with(0, 3_600_000)), []],
  ['no first attempts', waitsOf('healthy', []), ['extra wait of first attempts: NaN > 1000']],
  [
    'a slow receiver that waits for 3 minutes',
    waitsOf(
      'bystander',
      quick.map(() => 180_000),
    ),
    ['3-s receiver: 180000 > 120000'],
  ],
  [
    'one event of the burst deferred for 2 minutes',
    waitsOf('attacker', quick.with(0, 120_000)),
    ['healthy burst: 120000 > 60000'],
  ],
  ['121 attempts in flight in the slow lane', { maxInFlight: 121 }, ['slow lane in flight: 121 > 120']],
  ['a dead-letter message', { deadLetters: 1 }, ['dead-letter messages: 1 > 0']],
])('compares %s with the limits', (_, figures, exceeded) => {
  const trial = { attack: healthyBurst, situation: inOrder };
  expect(exceededLimits(figuresOf(trial, { ...run, ...figures }, run))).toEqual(exceeded);
});

it('measures the wait of unsent events and retries until now, and the attempts in flight at one receiver', () => {
  const behave = () => ({ responseMs: 20, isSuccess: false });
  const of = (role: Tenant['role']): Tenant => ({
    ...{ role, account: role, webhook: role, resolutionMs: 2, publishTimes: [0, 1_000], behave },
  });
  let now = 0;
  const period = { from: 0, until: 180_000 };
  const receivers = makeTenantReceivers([of('healthy'), of('bystander')], period, 1, () => now);
  const [first = ''] = receivers.events.keys();
  receivers.side.handlePost(first, {
    functionName: 'deliver-first',
    host: '',
    path: '',
    headers: {},
    body: '',
    read: undefined,
  });
  now = 40_000;
  expect(receivers.waits()).toMatchObject({
    healthy: { first: [0, 39_000], retries: [34_980] },
    bystander: { first: [40_000, 39_000] },
  });
  const log = receivers.logOf('deliver-slow');
  for (const [at, durationMs] of [
    [50_000, 10_000],
    [52_000, 3_000],
    [60_000, 7_000],
  ] as const) {
    now = at;
    log.info('delivery.attempt', { host: 'one', durationMs });
  }
  expect(receivers.maxInFlight()).toBe(2);
});
