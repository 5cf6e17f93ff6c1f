import { inOrder } from './plan.ts';
import { runTenants } from './run-tenants.ts';
import { burstsEvery, type Tenant } from './tenant.ts';

/** Returns how many events of a quiet day a receiver gets twice that starts cold each time: it answers in 3 s, once in 30 s. */
export async function repeatedAfterColdStarts(situation = inOrder): Promise<number> {
  const period = { from: 0, until: 3 * minute };
  const tenant = receiver(
    'cold',
    burstsEvery(30_000)(period, () => 0),
    () => 3_000,
  );
  const { posts } = await runTenants({ situation, seed: 1, period, tenants: [tenant] });
  return posts - tenant.publishes.length;
}

/** Returns how many events wait still ten minutes after a receiver of so many a second, which is well, has hung for a minute. */
export async function waitingAfterOutage(rate: number, situation = inOrder): Promise<number> {
  const outage = { from: minute, until: 2 * minute };
  const period = { from: 0, until: outage.until + 9.5 * minute }; // a run goes on for half a minute
  const hangs = (now: number) => now >= outage.from && now < outage.until;
  const tenant = receiver(
    'large',
    burstsEvery(1_000 / rate)(period, () => 0),
    now => (hangs(now) ? Number.POSITIVE_INFINITY : 50),
  );
  const { pending } = await runTenants({ situation, seed: 1, period, tenants: [tenant] });
  return pending;
}

const minute = 60_000;

function receiver(name: string, publishes: readonly number[], answersAfter: (now: number) => number): Tenant {
  return {
    ...{ account: name, webhook: name, part: 'bystander', resolves: 2, publishes },
    behave: (_random, _event, now) => ({ answers: answersAfter(now), isSuccess: true }),
  };
}
