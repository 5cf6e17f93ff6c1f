import { makeViolations, type Violation } from '../../invariants/violation.ts';
import type { TokenWorld } from '../make-token-world.ts';
import { checkAccessTokens, checkScopes } from './access-tokens.ts';
import { checkCalls } from './calls.ts';
import { makeEvidence } from './evidence.ts';
import { checkFailedLogins } from './failed-logins.ts';
import { checkLockoutCounts } from './lockout-counts.ts';
import { checkMetrics } from './metrics.ts';
import { checkResponses } from './responses.ts';
import { checkRotation } from './rotation.ts';
import { checkTables } from './tables.ts';

/** Checks the invariants for a finished token world. Returns the violations. */
export function checkTokenInvariants(world: TokenWorld, startedAt: number): readonly Violation[] {
  const evidence = makeEvidence(world, startedAt);
  const { violate, all } = makeViolations();
  for (const check of checks) check(evidence, violate);
  return all();
}

const checks = [
  checkResponses,
  checkRotation,
  checkAccessTokens,
  checkScopes,
  checkFailedLogins,
  checkLockoutCounts,
  checkMetrics,
  checkTables,
  checkCalls,
];
