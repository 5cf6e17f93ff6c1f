import { minute } from '../times.ts';
import { inOrder, type Situation } from './plan.ts';
import { runTenants } from './run-tenants.ts';
import { type Behave, burstsEvery, type Tenant } from './tenant.ts';

/** Returns the number of repeated events on a quiet day. The receiver starts cold, and responds in 3 s once in 30 s. */
export async function repeatedAfterColdStarts(): Promise<number> {
  const period = { from: 0, until: 3 * minute };
  const tenant = receiver(burstsEvery(30_000)(period, never), () => 3_000);
  const { posts } = await runTenants({ situation: inOrder, seed: 1, period, tenants: [tenant] });
  return posts - tenant.publishes.length;
}

/**
 * Runs a large healthy receiver of 100 events a second, of which 0.1 % take over 2 s. Returns the slow lane's POSTs in
 * ten minutes, and the events that still wait ten minutes after an outage of a minute.
 */
export async function largeReceiver(situation: Situation, rate = 100) {
  const run = (length: number, downUntil: number) => {
    const period = { from: 0, until: length };
    const answers: Answers = (random, _event, now) => {
      if (now >= minute && now < downUntil) return Number.POSITIVE_INFINITY;
      return random() < 0.001 ? 2_500 : 50;
    };
    const tenants = [receiver(burstsEvery(1_000 / rate)(period, never), answers)];
    return runTenants({ situation, seed: 1, period, tenants });
  };
  const healthy = await run(10 * minute, 0);
  const afterOutage = await run(11.5 * minute, 2 * minute); // a run continues for half a minute
  return { slowLanePosts: healthy.slowLanePosts, waiting: afterOutage.pending };
}

type Answers = (...given: Parameters<Behave>) => number;

function never(): number {
  return 0;
}

function receiver(publishes: readonly number[], answers: Answers): Tenant {
  return {
    ...{ account: 'receiver', webhook: 'receiver', part: 'bystander', resolves: 2, publishes },
    behave: (...given) => ({ answers: answers(...given), isSuccess: true }),
  };
}
