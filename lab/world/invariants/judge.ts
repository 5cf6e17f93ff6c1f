import type { World } from '../make-world.ts';
import { judgeAnnouncements } from './announcements.ts';
import { judgeAttempts } from './attempts.ts';
import { judgeCosts } from './costs.ts';
import { judgeDeliveries } from './deliveries.ts';
import { type Evidence, gatherEvidence } from './evidence.ts';
import { judgeFindings } from './findings.ts';
import { judgeHistories } from './histories.ts';
import { judgeMetrics } from './metrics.ts';
import { judgeOperators } from './operators.ts';
import { judgeOrphans } from './orphans.ts';
import { judgePosts } from './posts.ts';
import { judgeRefusals } from './refusals.ts';
import { judgeReplays } from './replays.ts';
import { judgeRequests } from './requests.ts';
import { judgeSlowLane } from './slow-lane.ts';
import { type Judgement, makeViolations } from './violation.ts';

/** Creates the invariant checks of a world. */
export function makeJudge(world: World, startedAt: number) {
  const { violate, all: violations } = makeViolations();
  const deliveries = judgeDeliveries(world, startedAt, violate);
  let gathered: Evidence | undefined;
  const evidence = () => {
    gathered ??= gatherEvidence(world);
    return gathered;
  };
  const judgements: readonly Judgement[] = [
    deliveries,
    judgeMetrics(world, evidence, violate),
    judgePosts(world, startedAt, evidence, violate),
    judgeAttempts(world, evidence, violate),
    judgeHistories(world, startedAt, evidence, violate),
    judgeFindings(world, startedAt, violate),
    judgeRequests(world, evidence, violate),
    judgeReplays(world, evidence, violate),
    judgeSlowLane(world, evidence, violate),
    judgeOperators(world, evidence, violate),
    judgeAnnouncements(world, evidence, violate),
    judgeRefusals(world, evidence, violate),
    judgeOrphans(world, violate),
    judgeCosts(world, violate),
  ];
  return {
    look() {
      for (const { look } of judgements) look?.();
    },
    judgeEnd() {
      for (const { judgeEnd } of judgements) judgeEnd?.();
    },
    violations,
    worstLateness: deliveries.worstLateness,
  };
}
