import { minute } from '../times.ts';
import { inOrder, type Situation } from './plan.ts';
import { runTenants } from './run-tenants.ts';
import { type Behave, burstsEvery, type Tenant } from './tenant.ts';

/** Returns the number of repeated POSTs to a receiver that responds in 3 s and gets an event every 30 s, after a cold start. */
export async function repeatedAfterColdStarts(): Promise<number> {
  const period = { from: 0, until: 3 * minute };
  const tenant = receiver(burstsEvery(30_000)(period, zero), () => 3_000);
  const { posts } = await runTenants({ situation: inOrder, seed: 1, period, tenants: [tenant] });
  return posts - tenant.publishTimes.length;
}

/**
 * Runs a large healthy receiver. 0.1% of its responses take 2.5 s. Returns the number of POSTs by the slow lane in 10
 * minutes, and the number of events that are pending 10 minutes after a one-minute outage. `rate` is in events per second.
 */
export async function largeReceiver(situation: Situation, rate = 100) {
  const run = (length: number, downUntil: number) => {
    const period = { from: 0, until: length };
    const responseTime: ResponseTime = (random, _event, now) => {
      if (now >= minute && now < downUntil) return Number.POSITIVE_INFINITY;
      return random() < 0.001 ? 2_500 : 50;
    };
    const tenants = [receiver(burstsEvery(1_000 / rate)(period, zero), responseTime)];
    return runTenants({ situation, seed: 1, period, tenants });
  };
  const healthy = await run(10 * minute, 0);
  const afterOutage = await run(11.5 * minute, 2 * minute); // a run continues for half a minute
  return { slowLanePosts: healthy.slowLanePosts, waiting: afterOutage.pending };
}

type ResponseTime = (...args: Parameters<Behave>) => number;

function zero(): number {
  return 0;
}

function receiver(publishTimes: readonly number[], responseTime: ResponseTime): Tenant {
  return {
    ...{ account: 'receiver', webhook: 'receiver', role: 'bystander', resolutionMs: 2, publishTimes },
    behave: (...args) => ({ responseMs: responseTime(...args), isSuccess: true }),
  };
}
