import { makeViolations, type Violation } from '../../invariants/violation.ts';
import type { TokenWorld } from '../make-token-world.ts';
import { judgeAccessTokens, judgeScopes } from './access-tokens.ts';
import { judgeAnswers } from './answers.ts';
import { judgeCalls } from './calls.ts';
import { makeEvidence } from './evidence.ts';
import { judgeLockoutCounts } from './lockout-counts.ts';
import { judgeMetrics } from './metrics.ts';
import { judgeRotation } from './rotation.ts';
import { judgeTables } from './tables.ts';
import { judgeUnansweredLogins } from './unanswered-logins.ts';

/** Checks the invariants of a world of tokens that has ended. Returns the violations. */
export function judgeTokens(world: TokenWorld, startedAt: number): readonly Violation[] {
  const evidence = makeEvidence(world, startedAt);
  const { violate, all } = makeViolations();
  for (const judge of judges) judge(evidence, violate);
  return all();
}

const judges = [
  judgeAnswers,
  judgeRotation,
  judgeAccessTokens,
  judgeScopes,
  judgeUnansweredLogins,
  judgeLockoutCounts,
  judgeMetrics,
  judgeTables,
  judgeCalls,
];
