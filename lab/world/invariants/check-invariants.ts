import type { World } from '../make-world.ts';
import { checkAnnouncements } from './announcements.ts';
import { checkAttempts } from './attempts.ts';
import { checkCosts } from './costs.ts';
import { checkDeliveries } from './deliveries.ts';
import { collectEvidence, type Evidence } from './evidence.ts';
import { checkFindings } from './findings.ts';
import { checkHistories } from './histories.ts';
import { checkMetrics } from './metrics.ts';
import { checkOperators } from './operators.ts';
import { checkOrphans } from './orphans.ts';
import { checkPosts } from './posts.ts';
import { checkRejectionNotices } from './rejection-notices.ts';
import { checkReplays } from './replays.ts';
import { checkRequests } from './requests.ts';
import { checkSlowLane } from './slow-lane.ts';
import { type Check, makeViolations } from './violation.ts';

/** Creates the invariant checks for a world. */
export function makeInvariantChecks(world: World, startedAt: number) {
  const { violate, all: violations } = makeViolations();
  const deliveries = checkDeliveries(world, startedAt, violate);
  let collected: Evidence | undefined;
  const evidence = () => {
    collected ??= collectEvidence(world);
    return collected;
  };
  const checks: readonly Check[] = [
    deliveries,
    checkMetrics(world, evidence, violate),
    checkPosts(world, startedAt, evidence, violate),
    checkAttempts(world, evidence, violate),
    checkHistories(world, startedAt, evidence, violate),
    checkFindings(world, startedAt, violate),
    checkRequests(world, evidence, violate),
    checkReplays(world, evidence, violate),
    checkSlowLane(world, evidence, violate),
    checkOperators(world, evidence, violate),
    checkAnnouncements(world, evidence, violate),
    checkRejectionNotices(world, evidence, violate),
    checkOrphans(world, violate),
    checkCosts(world, violate),
  ];
  return {
    checkDuringRun() {
      for (const { checkDuringRun } of checks) checkDuringRun?.();
    },
    checkAtEnd() {
      for (const { checkAtEnd } of checks) checkAtEnd?.();
    },
    violations,
    maxOverdueMs: deliveries.maxOverdueMs,
  };
}
